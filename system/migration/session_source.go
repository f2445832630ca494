package migration

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// statementBytes is the size at which a statement is estimated.
const statementBytes = 256

// sessionSource hands over the history of the sessions that wrote to the range (protocol 7): first
// what was on record when the migration began, then what is written since.
type sessionSource struct {
	s  *Service
	ns string
	// names are the namespace and those that the collection had before.
	names []string
	rng   key.Range

	old   []shard.SessionRecord // phase 1, not handed over yet
	fresh []sessionStatement    // phase 2, in the order of the log

	finishing bool // no more will be written: do not hold requests
	closed    bool
	news      env.Cond
	pulls     sequencedPulls[command.SessionMods]
}

type sessionStatement struct {
	stmt *oplog.Stmt
	at   oplog.Time
}

func newSessionSource(s *Service, ns string, rng key.Range) *sessionSource {
	return &sessionSource{s: s, ns: ns, names: append(s.shard.Formerly(ns), ns), rng: rng}
}

// init lists the sessions, and then writes an entry and waits for it: that makes everything on
// their chains majority-committed. Statements written meanwhile are noted, as the capture is
// attached; they must not be on a chain, too, as no majority may have them.
func (x *sessionSource) init(t env.Task) error {
	for _, r := range x.s.shard.Sessions() {
		if r.Last.Index != 0 {
			x.old = append(x.old, r)
		}
	}
	nop := oplog.Op{
		Kind:  oplog.Noop,
		NS:    x.ns,
		Actor: uint8(trace.Donor),
		Doc:   textDoc("session migration begins"),
	}
	return statedoc.Commit(t, x.s.member, nop)
}

// note queues a statement that was just written.
func (x *sessionSource) note(st *oplog.Stmt, at oplog.Time) {
	if x.concerns(st) {
		x.fresh = append(x.fresh, sessionStatement{st, at})
		x.news.Broadcast()
	}
}

// concerns reports whether the statement moves with the range.
func (x *sessionSource) concerns(st *oplog.Stmt) bool {
	return st.DeadEnd ||
		slices.Contains(x.names, st.NS) && (st.Key == "" || x.rng.Contains(key.Key(st.Key)))
}

func (x *sessionSource) empty() bool { return len(x.old) == 0 && len(x.fresh) == 0 }

// inCatchUp reports whether everything on record when the migration began was handed over. New
// statements may come all the time: waiting until there are none would let a busy session keep the
// migration from ending.
func (x *sessionSource) inCatchUp() bool { return len(x.old) == 0 }

func (x *sessionSource) bytes() int { return (len(x.old) + len(x.fresh)) * statementBytes }

// finish says that writes are blocked: requests are answered at once from now on.
func (x *sessionSource) finish() {
	x.finishing = true
	x.news.Broadcast()
}

func (x *sessionSource) close() {
	x.closed = true
	x.news.Broadcast()
}

// next answers a request for history: statements, or none when nothing but what is new is left,
// after waiting a while for that.
func (x *sessionSource) next(t env.Task) (*command.SessionMods, error) {
	mods, err := x.nextOld(t)
	if err != nil || len(mods.Stmts) > 0 {
		return mods, err
	}
	err = x.news.WaitFor(t, x.patience(), func() bool {
		return len(x.fresh) > 0 || x.finishing || x.closed
	})
	if err != nil && !errcode.Is(err, errcode.ExceededTimeLimit) {
		return nil, err
	}
	return x.nextFresh(t)
}

func (x *sessionSource) patience() time.Duration { return x.s.settings.SessionsPoll }

// nextOld hands over the recorded chains of some sessions, each oldest first. An answer with enough
// statements leaves the next session for the next answer.
func (x *sessionSource) nextOld(t env.Task) (*command.SessionMods, error) {
	mods := &command.SessionMods{}
	taken := 0
	most := x.s.settings.SessionsBatch
	for taken < len(x.old) && (most == 0 || len(mods.Stmts) < most) {
		if err := t.Point(
			failpoint.SessionSourceScan, env.Note{ID: x.old[taken].ID, N: taken},
		); err != nil {
			return nil, err
		}
		chain, err := x.chain(t, x.old[taken])
		if err != nil {
			return nil, err
		}
		mods.Stmts = append(mods.Stmts, chain...)
		taken++
	}
	x.old = x.old[taken:]
	return mods, nil
}

// chain returns the statements of a session that concern the range. A chain that ends early begins
// with a sentinel, so that the recipient refuses retries it cannot judge.
func (x *sessionSource) chain(t env.Task, r shard.SessionRecord) ([]oplog.Stmt, error) {
	var chain []oplog.Stmt
	sentinel := false
	complete := x.s.shard.History(r, func(st *oplog.Stmt, at oplog.Time) bool {
		one := *st
		one.Key = string(x.s.shard.Keyed(x.ns, st, at))
		if x.concerns(&one) {
			chain = append(chain, one)
		}
		sentinel = sentinel || st.DeadEnd
		return true
	})
	if !complete && !sentinel {
		if err := t.Point(failpoint.SessionSourceTruncated, env.Note{ID: r.ID}); err != nil {
			return nil, err
		}
		chain = append(chain, oplog.Stmt{Session: r.ID, Txn: r.Txn, NS: x.ns, DeadEnd: true})
	}
	slices.Reverse(chain)
	return chain, nil
}

// nextFresh hands over new statements once a majority has them: no failover may take back what the
// recipient remembers.
func (x *sessionSource) nextFresh(t env.Task) (*command.SessionMods, error) {
	mods := &command.SessionMods{CaughtUp: len(x.fresh) == 0}
	if err := t.Point(failpoint.DonorServeSessions, env.Note{N: len(x.fresh)}); err != nil {
		return nil, err
	}
	n := len(x.fresh)
	if n == 0 {
		return mods, nil
	}
	if err := t.Point(failpoint.SessionSourceNewWrite, env.Note{N: n}); err != nil {
		return nil, err
	}
	if err := statedoc.AwaitMajority(t, x.s.member, x.fresh[n-1].at); err != nil {
		return nil, err
	}
	for _, f := range x.fresh[:n] {
		mods.Stmts = append(mods.Stmts, *f.stmt)
	}
	x.fresh = x.fresh[n:]
	mods.CaughtUp = false
	return mods, nil
}
