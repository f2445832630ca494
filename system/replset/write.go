package replset

import (
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// Write logs operations as one entry and applies them at once, without waiting; the operations must
// not be changed afterwards. Errors: errcode.NotWritablePrimary, also while the member hands over,
// and before it is writable for tasks outside its term; the task's own error once its scope has
// ended. After an error nothing was written.
func (m *Member) Write(t env.Task, ops ...oplog.Op) (oplog.Time, error) {
	if err := m.mayWrite(t); err != nil {
		return oplog.Time{}, err
	}
	if m.inReadyLoop {
		m.fail("a watcher writes")
	}
	entry := &oplog.Entry{TS: m.cfg.Clock.Tick(), Ops: ops}
	if err := m.raft.Propose(entry.Marshal()); err != nil {
		return oplog.Time{}, errcode.New(errcode.NotWritablePrimary, "%s hands over replica set %s",
			m.cfg.Self, m.cfg.Name)
	}
	m.dirty = true
	m.proposed = entry
	m.readyLoop()
	m.proposed = nil
	last := m.log.last()
	t.Wrote(last.Term, last.Index)
	return last, nil
}

func (m *Member) mayWrite(t env.Task) error {
	if err := t.Err(); err != nil {
		return err
	}
	if !m.leading || !m.writable && !t.Scope().Within(m.termScope) {
		return errcode.New(errcode.NotWritablePrimary,
			"%s is not the primary of replica set %s, perhaps %q is",
			m.cfg.Self, m.cfg.Name, m.PrimaryHint())
	}
	return nil
}

// waiter is a task that waits for the log or the leadership to get somewhere.
type waiter struct {
	cond  env.Cond
	ready func() (bool, error)
	done  bool
	err   error
}

// wait parks the task until ready says true or an error; ready is asked after every progress.
func (m *Member) wait(t env.Task, timeout time.Duration, ready func() (bool, error)) error {
	if ok, err := ready(); ok || err != nil {
		return err
	}
	w := &waiter{ready: ready}
	m.waiting = append(m.waiting, w)
	if err := w.cond.Wait(t, timeout); err != nil && (!w.done || t.Err() != nil) {
		m.forget(w)
		return err
	}
	return w.err
}

func (m *Member) forget(gone *waiter) {
	for i, w := range m.waiting {
		if w == gone {
			m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
			return
		}
	}
}

func (m *Member) wake() {
	still := m.waiting[:0]
	for _, w := range m.waiting {
		ok, err := w.ready()
		if !ok && err == nil {
			still = append(still, w)
			continue
		}
		w.done, w.err = true, err
		w.cond.Signal()
	}
	clear(m.waiting[len(still):])
	m.waiting = still
}

// Await waits until the entry at a place satisfies the write concern; the zero place always does.
// Errors: errcode.WriteConcernFailed when the concern's timeout passes; errcode.PrimarySteppedDown
// when this member no longer leads and cannot know; the task's own error. In all these cases the
// entry may survive or not.
func (m *Member) Await(t env.Task, at oplog.Time, wc command.WriteConcern) error {
	if !wc.Majority && wc.W <= 1 || at.Index == 0 {
		return t.Err()
	}
	timeout := wc.Timeout
	if timeout == 0 {
		timeout = m.cfg.Settings.WriteConcernTimeout
	}
	counts := !wc.Majority
	if counts {
		m.counting++
	}
	err := m.wait(t, timeout, func() (bool, error) { return m.holds(at, wc) })
	if counts {
		m.counting--
	}
	if errcode.Is(err, errcode.ExceededTimeLimit) && t.Err() == nil {
		return errcode.New(errcode.WriteConcernFailed,
			"replica set %s has entry %s not on enough members after %s", m.cfg.Name, at, timeout)
	}
	return err
}

// AwaitMajority waits until everything applied so far is committed, as step-up work must before it
// acts on what it reads (protocol 9.2), and as an answer must that rests on it; and for proof that
// this is the primary still: what a deposed one has read may have been undone since. That an entry
// is committed which was written before the call proves nothing, as the acknowledgement may be from
// before another primary was elected. Errors are those of Confirm, but errcode.PrimarySteppedDown
// where what the caller has written may last or not.
func (m *Member) AwaitMajority(t env.Task) error {
	if at := m.Applied(); !m.leading && m.committed.Index < at.Index {
		return errcode.New(errcode.PrimarySteppedDown,
			"%s no longer leads replica set %s, and a majority may lack entry %s",
			m.cfg.Self, m.cfg.Name, at)
	}
	return m.Confirm(t)
}

// holds answers whether the entry at a place is on enough members.
func (m *Member) holds(at oplog.Time, wc command.WriteConcern) (bool, error) {
	if m.log.termOf(at.Index) != at.Term {
		return false, errcode.New(errcode.PrimarySteppedDown,
			"entry %s of replica set %s was rolled back", at, m.cfg.Name)
	}
	if wc.Majority && m.committed.Index >= at.Index {
		return true, nil
	}
	if !m.leading {
		return false, errcode.New(errcode.PrimarySteppedDown,
			"%s no longer leads replica set %s in term %d", m.cfg.Self, m.cfg.Name, m.term)
	}
	return !wc.Majority && m.holders(at.Index) >= wc.W, nil
}

// holders counts the members whose journal has the entry, as far as the leader knows.
func (m *Member) holders(index uint64) (n int) {
	m.raft.WithProgress(func(_ uint64, _ raft.ProgressType, pr tracker.Progress) {
		if pr.Match >= index {
			n++
		}
	})
	return n
}

// count wakes those who count members after an acknowledgement.
func (m *Member) count(msg *pb.Message) {
	if m.counting > 0 && msg.Type == pb.MsgAppResp {
		m.wake()
	}
}

// AwaitTS waits until everything up to a timestamp is committed here, on any member. Errors:
// errcode.ExceededTimeLimit after the write concern's default timeout; the task's own error.
func (m *Member) AwaitTS(t env.Task, ts hlc.Timestamp) error {
	return m.wait(t, m.cfg.Settings.WriteConcernTimeout, func() (bool, error) {
		return m.committedTS >= ts, nil
	})
}

// AwaitEntry waits on a follower until an entry of its primary is committed here. Errors:
// errcode.Interrupted when a later primary has written since; errcode.ExceededTimeLimit after the
// write concern's default timeout; the task's own error.
func (m *Member) AwaitEntry(t env.Task, at oplog.Time) error {
	return m.wait(t, m.cfg.Settings.WriteConcernTimeout, func() (bool, error) {
		if last := m.log.last(); last.Term > at.Term {
			return false, errcode.New(errcode.Interrupted,
				"%s follows a later primary than that of entry %s", m.cfg.Self, at)
		} else if last.Term < at.Term {
			return false, nil
		}
		return m.committed.Index >= at.Index, nil
	})
}
