package migration

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/statedoc"
)

// historyState is how far the history of sessions has come on the recipient (protocol 7).
type historyState uint8

const (
	historyNotStarted historyState = iota
	historyMigrating
	historyReadyToCommit // everything but what is new is here and majority-committed
	historyCommitting    // writes are blocked: what is left is the last
	historyDone
)

// sessionDestination fetches and records the history of sessions, beside the clone.
type sessionDestination struct {
	r       *recipientMigration
	state   historyState
	number  uint64
	err     error
	changed env.Cond
}

func (x *sessionDestination) run(t env.Task) {
	x.state = historyMigrating
	x.err = x.transfer(t)
	if x.err == nil {
		x.state = historyDone
	}
	x.changed.Broadcast()
	if x.err != nil {
		x.r.fail(recipientFailed, x.err)
	}
}

// transfer ends after two empty answers to requests that were sent after the commit signal: the
// first may have been prepared before the last write, the second was not.
func (x *sessionDestination) transfer(t env.Task) error {
	drained := [...]failpoint.Site{
		failpoint.RecipientSessionDrain1, failpoint.RecipientSessionDrain2,
	}
	for empty := 0; empty < len(drained); {
		committing := x.state == historyCommitting
		mods, err := x.fetch(t)
		if err != nil {
			return err
		}
		if len(mods.Stmts) > 0 {
			empty = 0
			if err := x.record(t, mods); err != nil {
				return err
			}
			continue
		}
		if committing {
			if err := t.Point(drained[empty], env.Note{ID: x.r.start.Migration}); err != nil {
				return err
			}
			empty++
		} else if err := x.pause(t); err != nil {
			return err
		}
	}
	return statedoc.AwaitMajority(t, x.r.s.member, x.r.s.member.Applied())
}

func (x *sessionDestination) fetch(t env.Task) (*command.SessionMods, error) {
	if err := t.Point(
		failpoint.RecipientSessionFetch, env.Note{ID: x.r.start.Migration, N: int(x.number)},
	); err != nil {
		return nil, err
	}
	if err := x.r.live(); err != nil {
		return nil, err
	}
	s := x.r.s.settings
	mods, err := askPrimary[command.SessionMods](t, x.r.s, x.r.start.From,
		&command.NextSessionMods{Session: x.r.start.Session, Number: x.number + 1},
		s.SessionsPoll+s.CommandTimeout)
	if err == nil {
		x.number++
	}
	return mods, err
}

// record writes the statements as history of this shard.
func (x *sessionDestination) record(t env.Task, mods *command.SessionMods) error {
	if err := t.Point(
		failpoint.RecipientSessionApply, env.Note{ID: x.r.start.Migration, N: len(mods.Stmts)},
	); err != nil {
		return err
	}
	for _, st := range mods.Stmts {
		if _, err := x.r.s.shard.Import(t, st, x.r.start.Migration, x.r.live); err != nil {
			return err
		}
	}
	return nil
}

// pause makes what was recorded majority-committed when there is nothing else to do, and waits for
// the commit signal or the next poll.
func (x *sessionDestination) pause(t env.Task) error {
	if x.state == historyMigrating {
		if err := statedoc.AwaitMajority(t, x.r.s.member, x.r.s.member.Applied()); err != nil {
			return err
		}
		if x.state == historyMigrating {
			x.state = historyReadyToCommit
		}
		x.r.changed.Broadcast()
	}
	if x.state == historyCommitting {
		return nil
	}
	if err := x.changed.Wait(t, x.r.s.steadyPoll()); t.Err() != nil {
		return err
	}
	return nil
}

// commit is the signal that writes are blocked on the donor.
func (x *sessionDestination) commit() {
	x.state = historyCommitting
	x.changed.Broadcast()
}

// caughtUp reports whether only what is new may be missing.
func (x *sessionDestination) caughtUp() bool { return x.state >= historyReadyToCommit }

// join waits for the end of the transfer.
func (x *sessionDestination) join(t env.Task) error {
	err := x.changed.WaitFor(t, 0, func() bool { return x.state == historyDone || x.err != nil })
	if err != nil {
		return err
	}
	return x.err
}
