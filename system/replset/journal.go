package replset

import (
	"math"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
)

// The member's files.
const (
	journalFile  = "journal"
	snapshotFile = "snapshot"
)

// journal makes durable what raft says must be, in order. One task writes it, so a slow disk delays
// acknowledgements and nothing else; everything that queued up meanwhile shares one sync.
type journal struct {
	queue []*pb.Message // MsgStorageAppend
	spare []*pb.Message // the array of the queue before, to be used again
	work  env.Cond
	busy  bool
	// hard is what the file says, but for the commit index, which may be ahead of it.
	hard hardState
	// written is the commit index that the file says.
	written uint64
	// saved is the index of the snapshot file's state.
	saved uint64
	// snapshotDue asks for a snapshot and a shorter log.
	snapshotDue bool
}

// hardState is what raft must never forget, and the commit index.
type hardState struct{ term, vote, commit uint64 }

// persist queues a MsgStorageAppend. One that no task waits for and that only carries the commit
// index is not worth a write.
func (m *Member) persist(msg *pb.Message) {
	j := &m.journal
	if !m.mustWrite(msg) && len(j.queue) == 0 && !j.busy {
		j.note(msg)
		m.answer(msg)
		return
	}
	j.queue = append(j.queue, msg)
	j.work.Signal()
}

// mustWrite reports whether a MsgStorageAppend holds more than a commit index.
func (m *Member) mustWrite(msg *pb.Message) bool {
	return len(msg.Entries) > 0 || msg.Snapshot != nil ||
		msg.Term != 0 && (msg.Term != m.journal.hard.term || msg.Vote != m.journal.hard.vote)
}

func (j *journal) note(msg *pb.Message) {
	if msg.Term != 0 {
		j.hard = hardState{msg.Term, msg.Vote, msg.Commit}
	}
}

// runJournal is the task that writes.
func (m *Member) runJournal(t env.Task) {
	j := &m.journal
	for {
		for len(j.queue) == 0 && !j.snapshotDue {
			if j.work.Wait(t, 0) != nil {
				return
			}
		}
		batch := j.queue
		j.queue = j.spare[:0]
		j.busy = true
		m.write(t, batch)
		clear(batch)
		j.spare = batch
		if j.snapshotDue {
			m.takeSnapshot(t)
		}
		j.busy = false
	}
}

// write makes a batch durable and acknowledges it; a snapshot among it is written by itself.
func (m *Member) write(t env.Task, batch []*pb.Message) {
	for len(batch) > 0 {
		n := 0
		for n < len(batch) && batch[n].Snapshot == nil {
			n++
		}
		if n > 0 {
			m.writeRecords(t, batch[:n])
		} else {
			m.writeSnapshot(t, batch[0])
			n = 1
		}
		m.acknowledge(batch[:n])
		batch = batch[n:]
	}
}

func (m *Member) writeRecords(t env.Task, batch []*pb.Message) {
	j := &m.journal
	buf, before := newRecords(batch), j.hard
	for _, msg := range batch {
		for i := range msg.Entries {
			buf = appendEntry(buf, &msg.Entries[i])
		}
		j.note(msg)
	}
	if j.hard.term != before.term || j.hard.vote != before.vote ||
		len(buf) > 0 && j.hard.commit > j.written {
		buf = appendHard(slices.Grow(buf, recordOverhead), j.hard)
		j.written = j.hard.commit
	}
	if len(buf) > 0 {
		m.sync(t, buf)
	}
	for _, msg := range batch {
		m.check(m.stable.Append(msg.Entries))
	}
}

// newRecords is empty and has room for a batch's records; nil for a batch without any, most of
// which write nothing.
func newRecords(batch []*pb.Message) []byte {
	size := 0
	for _, msg := range batch {
		size += recordsSize(msg.Entries)
	}
	if size == 0 {
		return nil
	}
	return make([]byte, 0, size+recordOverhead) // a hard state
}

// sync appends records to the journal file and waits until they are durable.
func (m *Member) sync(t env.Task, records []byte) {
	m.check(m.node.Disk().Append(t, journalFile, records))
	_ = t.Point(failpoint.ReplicaBeforeSync, env.Note{N: len(records)})
	m.check(m.node.Disk().Sync(t, journalFile))
	_ = t.Point(failpoint.ReplicaAfterSync, env.Note{N: len(records)})
}

// acknowledge delivers what rests on a durable batch.
func (m *Member) acknowledge(batch []*pb.Message) {
	for _, msg := range batch {
		m.answer(msg)
	}
	m.readyLoop()
	if m.counting > 0 {
		m.wake()
	}
}

// answer delivers what waited for a MsgStorageAppend.
func (m *Member) answer(msg *pb.Message) {
	for i := range msg.Responses {
		m.deliver(&msg.Responses[i])
	}
}

// check takes errors of the disk and of the stable log, which a living member never sees.
func (m *Member) check(err error) {
	if err != nil {
		m.fail("storage fails: %v", err)
	}
}

// writeSnapshot replaces snapshot and journal by a leader's snapshot.
func (m *Member) writeSnapshot(t env.Task, msg *pb.Message) {
	m.journal.note(msg)
	m.check(m.node.Disk().Replace(t, snapshotFile, msg.Snapshot.Data))
	_ = t.Point(failpoint.ReplicaBetweenSnapshotAndLog, env.Note{})
	m.check(m.stable.ApplySnapshot(*msg.Snapshot))
	m.journal.saved = msg.Snapshot.Metadata.Index
	m.rewriteJournal(t)
}

// considerSnapshot asks for a snapshot once twice the retention is kept.
func (m *Member) considerSnapshot() {
	if m.committed.Index-min(m.committed.Index, m.log.base.Index) > 2*m.retention() &&
		!m.journal.snapshotDue {
		m.journal.snapshotDue = true
		m.journal.work.Signal()
	}
}

func (m *Member) retention() uint64 { return uint64(max(1, m.cfg.Settings.LogRetention)) }

// takeSnapshot saves the committed state, as far as the stable log reaches, and drops the log
// before it but for the retention.
func (m *Member) takeSnapshot(t env.Task) {
	m.journal.snapshotDue = false
	last, _ := m.stable.LastIndex()
	first, _ := m.stable.FirstIndex()
	at := m.log.place(min(m.committed.Index, last))
	drop := m.droppable(at.Index)
	if at.Index > last || at.Index <= m.journal.saved || at.Index < m.store.Oldest() ||
		drop < first {
		// A leader's snapshot is on its way to the disk, or the disk is far behind: a later commit
		// asks again.
		return
	}
	if term, err := m.stable.Term(at.Index); err != nil || term != at.Term {
		return // the entry that replaces what the disk has there is on its way to it
	}
	data := m.image(at)
	m.check(m.node.Disk().Replace(t, snapshotFile, data))
	_ = t.Point(failpoint.ReplicaBetweenSnapshotAndLog, env.Note{})
	_, err := m.stable.CreateSnapshot(at.Index, &m.voters, data)
	m.check(err)
	m.journal.saved = at.Index
	m.check(m.stable.Compact(drop))
	m.log.compact(drop)
	m.rewriteJournal(t)
}

// droppable is the last entry that a log with a snapshot at an index need not keep. raft still asks
// for entries that it has not yet handed out as committed.
func (m *Member) droppable(at uint64) uint64 {
	return min(at-min(at, m.retention()), m.raft.BasicStatus().Applied)
}

// rewriteJournal replaces the file by what the stable log holds.
func (m *Member) rewriteJournal(t env.Task) {
	first, _ := m.stable.FirstIndex()
	last, _ := m.stable.LastIndex()
	term, err := m.stable.Term(first - 1)
	m.check(err)
	var entries []pb.Entry
	if last >= first {
		entries, err = m.stable.Entries(first, last+1, math.MaxUint64)
		m.check(err)
	}
	buf := make([]byte, 0, 2*recordOverhead+recordsSize(entries))
	buf = appendBase(buf, oplog.Time{Term: term, Index: first - 1})
	for i := range entries {
		buf = appendEntry(buf, &entries[i])
	}
	buf = appendHard(buf, m.journal.hard)
	m.journal.written = m.journal.hard.commit
	m.check(m.node.Disk().Replace(t, journalFile, buf))
}
