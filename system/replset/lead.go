package replset

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// Lead is one term in which a member is the primary. A request outlives the term in which it was
// let in: it may stall while the member is deposed, forgets what the request has read or written,
// and is perhaps elected again.
//
// Rule: an answer rests on what was read and written in one term, and waits in that term for the
// write concern. Every request that waits between the two takes a Lead first and answers through
// it. Tasks of the term itself need none: the end of the term ends them. A request that does not
// wait, or asks again after every wait, is content with NeedPrimary.
type Lead struct {
	m    *Member
	term uint64
}

// NeedPrimary is errcode.NotWritablePrimary when the member is no primary that accepts writes.
func (m *Member) NeedPrimary() error {
	if m.writable {
		return nil
	}
	return errcode.New(errcode.NotWritablePrimary,
		"%s is not the primary of %s, which it believes to be %q",
		m.cfg.Self, m.cfg.Name, m.PrimaryHint())
}

// Lead is the present term of a primary. Errors are those of NeedPrimary.
func (m *Member) Lead() (Lead, error) {
	if err := m.NeedPrimary(); err != nil {
		return Lead{}, err
	}
	return Lead{m, m.led}, nil
}

// Err is errcode.NotWritablePrimary once the member is no primary any more, and
// errcode.InterruptedDueToReplStateChange when it is one again, in another term.
func (l Lead) Err() error {
	now, err := l.m.Lead()
	if err == nil && now.term != l.term {
		err = errcode.New(errcode.InterruptedDueToReplStateChange,
			"%s was primary of term %d when the operation began and is of %d now",
			l.m.cfg.Self, l.term, now.term)
	}
	return err
}

// Await waits until everything that was applied in the term so far satisfies the write concern:
// whatever the caller has read or written is among it, as a primary's log only grows. Errors are
// those of Member.Await, and errcode.InterruptedDueToReplStateChange when the term is over: not
// errcode.NotWritablePrimary, which says for certain that nothing was executed, while what the
// caller has written may have reached the next primary.
func (l Lead) Await(t env.Task, wc command.WriteConcern) error {
	if err := l.Err(); err != nil {
		return errcode.New(errcode.InterruptedDueToReplStateChange,
			"what was written in term %d may last or not: %v", l.term, err)
	}
	return l.m.Await(t, l.m.Applied(), wc)
}

// AwaitMajority is Await for a majority, with proof of the leadership as Member.AwaitMajority has
// it.
func (l Lead) AwaitMajority(t env.Task) error {
	if l.Err() != nil {
		return l.Await(t, command.Majority)
	}
	return l.m.Confirm(t)
}

// Prove is AwaitMajority on behalf of a write that rests on what it has read, for as long as its
// write concern says: errcode.WriteConcernFailed when that time passes.
func (l Lead) Prove(t env.Task, wc command.WriteConcern) error {
	if wc.Timeout == 0 || l.Err() != nil {
		return l.AwaitMajority(t)
	}
	err := l.m.confirm(t, wc.Timeout)
	if errcode.Is(err, errcode.ExceededTimeLimit) && t.Err() == nil {
		return errcode.New(errcode.WriteConcernFailed,
			"%s has no proof after %s that it still is the primary of replica set %s",
			l.m.cfg.Self, wc.Timeout, l.m.cfg.Name)
	}
	return err
}

// needLeader is errcode.NotWritablePrimary when the member does not lead. A leader that does not
// accept writes yet is one.
func (m *Member) needLeader() error {
	if m.leading {
		return nil
	}
	return errcode.New(errcode.NotWritablePrimary, "%s is not the primary of replica set %s",
		m.cfg.Self, m.cfg.Name)
}

// leadsIn says whether the member leads, and still in that term.
func (m *Member) leadsIn(term uint64) bool { return m.leading && m.led == term }
