package replset

import (
	"encoding/binary"
	"errors"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// snapshotImage is the state of a replica set at a place: what a snapshot holds.
type snapshotImage struct {
	at    oplog.Time
	ts    hlc.Timestamp
	terms []oplog.Time
	store []byte
}

// image encodes the state at a committed place.
func (m *Member) image(at oplog.Time) []byte {
	terms := truncateTerms(m.log.terms, at.Index)
	b := binary.AppendUvarint(nil, at.Term)
	b = binary.AppendUvarint(b, at.Index)
	b = binary.AppendUvarint(b, uint64(m.log.stamp(at.Index)))
	b = binary.AppendUvarint(b, uint64(len(terms)))
	for _, last := range terms {
		b = binary.AppendUvarint(b, last.Term)
		b = binary.AppendUvarint(b, last.Index)
	}
	b, err := m.store.Snapshot(b, at.Index)
	m.check(err)
	return b
}

func decodeImage(b []byte) (img snapshotImage, err error) {
	n, b, ok := readUvarints(b, 3)
	img.at, img.ts = oplog.Time{Term: n[0], Index: n[1]}, hlc.Timestamp(n[2])
	n, b, counted := readUvarints(b, 1)
	ok = ok && counted
	for count := n[0]; ok && count > 0; count-- {
		n, b, ok = readUvarints(b, 2)
		img.terms = append(img.terms, oplog.Time{Term: n[0], Index: n[1]})
	}
	if !ok {
		return snapshotImage{}, errors.New("the snapshot ends within its head")
	}
	img.store = b
	return img, nil
}

// adopt makes an image the member's whole state.
func (m *Member) adopt(img snapshotImage) {
	m.check(m.store.Restore(img.store, img.at.Index))
	m.log = logHistory{base: img.at, baseTS: img.ts, terms: img.terms}
	m.committed, m.committedTS = img.at, max(m.committedTS, img.ts)
	m.cfg.Clock.Advance(hlc.Vector{Cluster: img.ts})
}

// revive rebuilds everything from the disk: the snapshot, then the log after it, applied at once
// like any entry. It reports whether the member boots for the first time.
func (m *Member) revive(t env.Task) (fresh bool) {
	disk := m.node.Disk()
	snapshot, err := disk.Read(t, snapshotFile)
	m.check(err)
	file, err := disk.Read(t, journalFile)
	m.check(err)
	r, sound := readJournal(file)
	joined := m.rebuild(snapshot, &r)
	if sound < len(file) || !joined {
		m.rewriteJournal(t)
	} else if len(file) > 0 {
		// What survived without a sync is acknowledged from now on, so the next crash must not take
		// it.
		m.check(disk.Sync(t, journalFile))
	}
	if m.node.Incarnation() > 1 {
		m.emit(trace.RolledBackEvent{Index: m.log.last().Index}.Event())
	}
	return len(file) == 0 && len(snapshot) == 0
}

// rebuild fills store, log and raft's log. It reports whether the journal goes on from the
// snapshot; one that does not is what the snapshot was about to replace, and its entries count for
// nothing.
func (m *Member) rebuild(snapshot []byte, r *journalContent) (joined bool) {
	var img snapshotImage
	joined = true
	if len(snapshot) > 0 {
		var err error
		img, err = decodeImage(snapshot)
		m.check(err)
		m.adopt(img)
		if joined = r.holds(img.at); !joined {
			*r = journalContent{base: img.at, hard: r.hard}
		}
	}
	m.replay(img.at.Index, r)
	m.restoreHard(r)
	m.stable = m.restoreStable(img.at, snapshot, r)
	m.journal.saved = img.at.Index
	return joined
}

// replay puts entries the snapshot contains into the log only, and those after it into the store as
// well. The stamp of the base is not on disk: what is just before that of the first entry will do,
// so that readers of the log find all of it.
func (m *Member) replay(contained uint64, r *journalContent) {
	m.log.base = r.base
	for i := range r.entries {
		e := &r.entries[i]
		if entry := m.decode(e); e.Index <= contained {
			m.log.kept = append(m.log.kept, logEntry{term: e.Term, entry: entry})
			if entry.TS != 0 {
				m.log.baseTS = min(m.log.baseTS, entry.TS-1)
			}
		} else {
			m.enter(e, entry)
		}
	}
}

// restoreHard takes over term, vote and commit index. The file's commit index may be behind the
// snapshot, which is committed, or ahead of a torn log.
func (m *Member) restoreHard(r *journalContent) {
	r.hard.commit = min(max(r.hard.commit, m.committed.Index), r.last())
	m.term = r.hard.term
	m.committed = m.log.place(r.hard.commit)
	m.committedTS = max(m.committedTS, m.log.stamp(r.hard.commit))
	m.journal.hard, m.journal.written = r.hard, r.hard.commit
}

// stableLog is what the journal holds durably, as raft asks for it. The voters are always the same;
// an empty log has them.
type stableLog struct {
	*raft.MemoryStorage
	voters pb.ConfState
}

// InitialState says what raft begins with.
func (s stableLog) InitialState() (pb.HardState, pb.ConfState, error) {
	hard, _, err := s.MemoryStorage.InitialState()
	return hard, s.voters, err
}

func (m *Member) restoreStable(at oplog.Time, snapshot []byte, r *journalContent) stableLog {
	s := raft.NewMemoryStorage()
	if r.base.Index > 0 {
		first := pb.Snapshot{Metadata: pb.SnapshotMetadata{
			ConfState: m.voters,
			Index:     r.base.Index,
			Term:      r.base.Term,
		}}
		if at == r.base {
			first.Data = snapshot
		}
		m.check(s.ApplySnapshot(first))
	}
	m.check(s.Append(r.entries))
	m.check(
		s.SetHardState(pb.HardState{Term: r.hard.term, Vote: r.hard.vote, Commit: r.hard.commit}),
	)
	if at != r.base {
		_, err := s.CreateSnapshot(at.Index, &m.voters, snapshot)
		m.check(err)
	}
	return stableLog{s, m.voters}
}
