package replset

import (
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// follow takes over raft's view of who leads.
func (m *Member) follow(s *raft.SoftState) {
	m.lead = s.Lead
	leads := s.RaftState == raft.StateLeader
	switch {
	case leads && !m.leading:
		m.beginTerm()
	case !leads && m.leading:
		m.endTerm()
	}
}

func (m *Member) beginTerm() {
	m.leading, m.led = true, m.term
	m.termScope = env.NewScope(nil)
	m.emit(trace.ElectedEvent{
		Term:  m.led,
		Index: m.log.last().Index,
		Log:   describeTerms(m.log.terms),
	}.Event())
	m.beat = m.node.After(m.tick(), m.heartbeat)
	m.node.Spawn(m.termScope, "step-up", m.stepUp)
}

// stepUp does the watchers' work of a new primary, then lets users write.
func (m *Member) stepUp(t env.Task) {
	done := m.retryUntil(t, func() error {
		return t.Point(failpoint.ReplicaStepUpBegin, env.Note{N: int(m.led)})
	})
	for i := 0; i < len(m.watchers) && done; i++ {
		done = m.retryUntil(t, func() error { return m.watchers[i].StepUp(t) })
	}
	done = done && m.retryUntil(t, func() error {
		return t.Point(failpoint.ReplicaStepUpBeforeWritable, env.Note{N: int(m.led)})
	})
	if !done {
		return
	}
	m.writable = true
	m.emit(trace.WritableEvent{Term: m.led}.Event())
}

// retryUntil repeats a step until it succeeds; false when the term ended first, or together with
// the last wait.
func (m *Member) retryUntil(t env.Task, step func() error) bool {
	for step() != nil {
		if t.Sleep(m.tick()) != nil {
			return false
		}
	}
	return t.Err() == nil
}

// endTerm informs everything that acts for the lost leadership before the next leader's entries
// undo anything.
func (m *Member) endTerm() {
	m.leading, m.writable = false, false
	m.beat.Stop()
	m.emit(trace.SteppedDownEvent{Term: m.led}.Event())
	m.termScope.Cancel(errcode.New(errcode.PrimarySteppedDown,
		"%s no longer leads replica set %s in term %d", m.cfg.Self, m.cfg.Name, m.led))
	for _, w := range m.watchers {
		w.StepDown()
	}
	m.wake()
	m.hear()
}

// heartbeat is one tick of a leader.
func (m *Member) heartbeat() {
	if !m.leading {
		return
	}
	m.beat = m.node.After(m.tick(), m.heartbeat)
	m.raft.Tick()
	m.dirty = true
	m.readyLoop()
	if m.leading {
		m.proofs.repeat(m)
	}
}

// StepDown hands the leadership to the member whose log is the longest. While that one catches up,
// writes fail with errcode.NotWritablePrimary. Errors: errcode.NotWritablePrimary without
// leadership; errcode.ExceededTimeLimit when nobody caught up in time, and the member goes on to
// lead; the task's own error.
func (m *Member) StepDown(t env.Task) error {
	if err := m.needLeader(); err != nil {
		return err
	}
	term, until := m.led, m.node.Mono().Add(m.cfg.Settings.CatchUpTimeout)
	for left := m.cfg.Settings.CatchUpTimeout; left > 0; left = until.Sub(m.node.Mono()) {
		// raft gives a transfer up after an election timeout; then it is begun again. Nobody has
		// been heard of lately just after raft has begun to count again, until the next heartbeat.
		to, pause := m.successor(), m.electionTimeout()
		if to == m.self {
			pause = m.cfg.Settings.HeartbeatInterval
		}
		m.transfer(to)
		err := m.wait(t, min(left, pause), func() (bool, error) {
			return !m.leadsIn(term), nil
		})
		if err == nil || t.Err() != nil {
			return t.Err()
		}
	}
	m.transfer(m.self) // a transfer to the member itself ends the one in progress
	return errcode.New(errcode.ExceededTimeLimit, "no member of replica set %s caught up within %s",
		m.cfg.Name, m.cfg.Settings.CatchUpTimeout)
}

// TakeOver has a member that does not lead campaign at once, even while another leads: a forced
// failover, of which the primary learns by the higher term. The member wins if its log is as long
// as that of a majority. A leader does nothing.
func (m *Member) TakeOver() {
	if m.leading {
		return
	}
	// What a leader tells its successor at the end of a transfer; others vote in spite of the
	// lease.
	_ = m.raft.Step(pb.Message{Type: pb.MsgTimeoutNow, From: m.self, To: m.self})
	m.dirty = true
	m.readyLoop()
}

func (m *Member) transfer(to uint64) {
	m.raft.TransferLeader(to)
	m.dirty = true
	m.readyLoop()
}

// successor is the member with the longest log of those learned of lately; the member itself when
// there is none.
func (m *Member) successor() uint64 {
	best, match := m.self, uint64(0)
	m.raft.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
		if id != m.self && pr.RecentActive && pr.Match > match {
			best, match = id, pr.Match
		}
	})
	return best
}

// expectSnapshot has raft send a snapshot again when its receiver does not answer: one-way messages
// may be lost.
func (m *Member) expectSnapshot(to uint64) {
	term := m.led
	m.node.After(2*m.electionTimeout(), func() {
		if m.leadsIn(term) {
			m.raft.ReportSnapshot(to, raft.SnapshotFailure)
			m.dirty = true
			m.readyLoop()
		}
	})
}
