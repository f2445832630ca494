package replset

import (
	"fmt"
	"math"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/oplog"
)

// Durable is what a member's disk keeps whatever happens to the machine, as it is seen by somebody
// who reads the files and does not ask the member. The zero Durable has read nothing.
type Durable struct {
	// snapshot is the index of the state in the snapshot file, saved counts replacements of the file.
	snapshot uint64
	saved    int
	// read is how many bytes of the current journal file are known, replaced counts replacements of
	// the file.
	read, replaced int
	base           uint64
	terms          []uint64 // of the entries after base
	hard           hardState
}

// Disk reads a file from an offset on, as far as it is durable, and says how often the file was
// replaced as a whole.
type Disk func(file string, from int) (b []byte, replaced int)

// Read takes over what has become durable since the last time.
func (d *Durable) Read(disk Disk) {
	journal, replaced := disk(journalFile, d.read)
	if replaced != d.replaced {
		*d = Durable{snapshot: d.snapshot, saved: d.saved, replaced: replaced}
		journal, _ = disk(journalFile, 0)
	}
	for {
		body := intactRecord(journal)
		if body == nil {
			break
		}
		d.add(body)
		journal, d.read = journal[recordHead+len(body):], d.read+recordHead+len(body)
	}
	if _, saved := disk(snapshotFile, math.MaxInt); saved != d.saved {
		head, _ := disk(snapshotFile, 0)
		n, _, _ := readUvarints(head, 2)
		d.snapshot, d.saved = n[1], saved
	}
}

func (d *Durable) add(body []byte) {
	n, _, _ := readUvarints(body[1:], 2)
	switch body[0] {
	case kindBase:
		d.base, d.terms = n[1], d.terms[:0]
	case kindHard:
		d.hard.term, d.hard.vote = n[0], n[1]
	case kindEntry:
		d.terms = append(d.terms[:min(n[1]-d.base-1, uint64(len(d.terms)))], n[0])
	}
}

// Has reports whether the disk keeps an entry, be it as part of a state.
func (d *Durable) Has(at oplog.Time) bool {
	i := at.Index - d.base - 1
	return at.Index <= max(d.base, d.snapshot) ||
		i < uint64(len(d.terms)) && d.terms[i] == at.Term
}

// Acknowledges reports whether a message promises that its sender keeps something.
func (r *Raft) Acknowledges() bool {
	return !r.Reject && (r.Type == pb.MsgAppResp || r.Type == pb.MsgVoteResp)
}

// AnswersLeader reports whether a member answers who leads it.
func (r *Raft) AnswersLeader() bool {
	return r.Type == pb.MsgAppResp || r.Type == pb.MsgHeartbeatResp
}

// Unkept says what a message of the member promises that its disk does not keep: an entry that it
// acknowledges, or a vote; "" when there is nothing.
func (m *Member) Unkept(r *Raft, d *Durable) string {
	at := oplog.Time{Term: m.log.termOf(r.Index), Index: r.Index}
	switch {
	case r.Type == pb.MsgAppResp && r.Term == m.term && !d.Has(at):
		// One of an earlier term may be about an entry that was replaced since.
		return fmt.Sprintf("entry %d of term %d is not durable on its disk", at.Index, at.Term)
	case r.Type == pb.MsgVoteResp &&
		(d.hard.term < r.Term || d.hard.term == r.Term && d.hard.vote != r.To):
		return fmt.Sprintf("its vote in term %d is not durable on its disk", r.Term)
	}
	return ""
}

// Announced is the entry up to which the member, when it leads, says that all is committed.
func (m *Member) Announced(r *Raft) (at oplog.Time, says bool) {
	says = (r.Type == pb.MsgApp || r.Type == pb.MsgHeartbeat) && r.Commit > 0 && r.Term == m.term
	return oplog.Time{Term: m.log.termOf(r.Commit), Index: r.Commit}, says
}
