package replset

import (
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// step hands raft a message. Its errors are about messages that came too late to matter. What raft
// does when storage answers is of no use before the next call: it hands out entries as committed
// that were applied when appended.
func (m *Member) step(msg *pb.Message) {
	_ = m.raft.Step(*msg)
	switch msg.Type {
	case pb.MsgHeartbeat:
		m.election.counting, m.dirty = false, true
	case pb.MsgStorageAppendResp, pb.MsgStorageApplyResp:
	case pb.MsgAppResp, pb.MsgHeartbeatResp:
		// Often nothing follows, and to ask is cheaper than to take nothing.
		m.dirty = m.dirty || m.raft.HasReady()
	default:
		m.dirty = true
	}
}

// readyLoop takes everything that raft has to say. It never waits: what must be durable first goes
// to the journal.
func (m *Member) readyLoop() {
	if m.inReadyLoop {
		return
	}
	m.inReadyLoop = true
	for m.dirty {
		m.dirty = false
		m.handle(m.raft.Ready())
	}
	m.inReadyLoop = false
}

// handle ends a lost leadership before anything is undone, and begins a new one before its first
// entry is applied.
func (m *Member) handle(rd raft.Ready) {
	if rd.Term != 0 {
		m.term = rd.Term
	}
	if rd.SoftState != nil {
		m.follow(rd.SoftState)
	}
	if !raft.IsEmptySnap(rd.Snapshot) {
		m.install(rd.Snapshot)
	}
	if len(rd.Entries) > 0 {
		m.append(rd.Entries)
	}
	if commit := rd.Commit; commit > m.committed.Index {
		m.commit(commit)
	}
	m.dispatch(rd.Messages)
}

func (m *Member) dispatch(msgs []pb.Message) {
	for i := range msgs {
		msg := &msgs[i]
		switch msg.To {
		case raft.LocalAppendThread:
			m.persist(msg)
		case raft.LocalApplyThread: // applied when appended
			for i := range msg.Responses {
				m.step(&msg.Responses[i])
			}
		default:
			m.deliver(msg)
		}
	}
}

// append applies new entries at once, after undoing those that a newer leader replaces.
func (m *Member) append(entries []pb.Entry) {
	if to := entries[0].Index - 1; to < m.log.last().Index {
		m.rollBack(to)
	}
	for i := range entries {
		e := &entries[i]
		m.apply(e, m.decode(e))
	}
}

// decode returns the entry's operations: none for the one by which a leader begins its term.
func (m *Member) decode(e *pb.Entry) *oplog.Entry {
	if len(e.Data) == 0 {
		return &oplog.Entry{}
	}
	if m.proposed != nil {
		m.cfg.Reading.Remember(e.Data, m.proposed)
		return m.proposed
	}
	entry, err := m.cfg.Reading.Read(e.Data, oplog.Unmarshal)
	if err != nil {
		m.fail("entry %d.%d does not decode: %v", e.Term, e.Index, err)
	}
	return entry
}

func (m *Member) apply(e *pb.Entry, entry *oplog.Entry) {
	index := e.Index
	m.enter(e, entry)
	for _, w := range m.watchers {
		w.Applied(index, entry, m.leading)
	}
}

// enter adds an entry to the log and the store.
func (m *Member) enter(e *pb.Entry, entry *oplog.Entry) {
	index := e.Index
	if index != m.log.last().Index+1 {
		m.fail("entry %d.%d comes after %s", e.Term, index, m.log.last())
	}
	if before := m.log.stamp(index - 1); entry.TS != 0 && entry.TS <= before {
		m.fail("entry %d.%d has cluster time %s, and one before it has %s", e.Term, index, entry.TS,
			before)
	}
	m.log.append(logEntry{term: e.Term, entry: entry})
	m.cfg.Clock.Advance(hlc.Vector{Cluster: entry.TS})
	if err := m.store.Apply(index, entry.Ops); err != nil {
		m.fail("entry %d.%d does not apply: %v", e.Term, index, err)
	}
}

func (m *Member) rollBack(to uint64) {
	if to < m.committed.Index {
		m.fail("a rollback to %d undoes committed entries", to)
	}
	m.log.truncate(to)
	m.store.Rollback(to)
	m.node.Sometimes("replset.rolledBack")
	m.emit(trace.RolledBackEvent{Index: to}.Event())
	for _, w := range m.watchers {
		w.RolledBack(to)
	}
}

// readersWindow is how many states before the majority point the store can show at least, for
// readers who took their time since they asked for it.
const readersWindow = 256

// commit moves the majority point.
func (m *Member) commit(index uint64) {
	m.committed = m.log.place(index)
	m.committedTS = max(m.committedTS, m.log.stamp(index))
	if m.leading {
		m.emit(trace.MajorityEvent{Term: m.led, Index: index}.Event())
	}
	for _, w := range m.watchers {
		w.Committed(index)
	}
	if kept := max(m.retention(), readersWindow); index > kept {
		m.store.SetOldest(index - kept)
	}
	m.considerSnapshot()
	m.wake()
}

// install replaces everything by a snapshot from the leader (initial sync).
func (m *Member) install(snap pb.Snapshot) {
	img, err := decodeImage(snap.Data)
	m.check(err)
	from := m.committed.Index
	m.adopt(img)
	m.node.Sometimes("replset.initialSync")
	m.emit(trace.RolledBackEvent{Index: from}.Event())
	for _, w := range m.watchers {
		w.Reset(img.at.Index)
	}
	m.wake()
}
