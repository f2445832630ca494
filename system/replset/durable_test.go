package replset

import (
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/oplog"
)

// files are a disk: what is durable of each file, and how often that was replaced.
type files map[string]struct {
	content  []byte
	replaced int
}

func (f files) read(name string, from int) ([]byte, int) {
	file := f[name]
	return file.content[min(from, len(file.content)):], file.replaced
}

// TestDurable: what the disk keeps follows the journal, as records are added and as the file is
// replaced, and the snapshot stands for what it contains.
func TestDurable(t *testing.T) {
	entry := func(b []byte, term, index uint64) []byte {
		return appendEntry(b, &pb.Entry{Term: term, Index: index})
	}
	disk, d := files{}, &Durable{}
	journal := appendHard(entry(entry(nil, 1, 1), 1, 2), hardState{term: 1, vote: 2})
	write := func(b []byte, replaced int) {
		disk[journalFile] = struct {
			content  []byte
			replaced int
		}{b, replaced}
		d.Read(disk.read)
	}
	expect := func(what string, term, index uint64, want bool) {
		t.Helper()
		if got := d.Has(oplog.Time{Term: term, Index: index}); got != want {
			t.Errorf("%s: entry %d of term %d is kept: %v, want %v", what, index, term, got, want)
		}
	}
	expect("nothing was read", 1, 1, false)
	write(journal, 0)
	expect("two entries", 1, 2, true)
	expect("the next one", 1, 3, false)
	expect("one of another term", 2, 2, false)

	journal = entry(journal, 2, 2)
	write(journal[:len(journal)-1], 0)
	expect("a record that is not whole", 2, 2, false)
	write(journal, 0)
	expect("replaced by a newer term", 2, 2, true)
	expect("what it replaced", 1, 2, false)

	write(entry(appendBase(nil, oplog.Time{Term: 2, Index: 5}), 2, 6), 1)
	expect("the file was replaced", 2, 6, true)
	expect("before its beginning", 1, 3, true)

	disk[snapshotFile] = struct {
		content  []byte
		replaced int
	}{[]byte{3, 9}, 1}
	d.Read(disk.read)
	expect("within the snapshot", 3, 9, true)
	expect("after it", 3, 10, false)
}

// TestUnkept: an acknowledged entry and a vote must be on disk; a refusal and an answer of an
// earlier term promise nothing.
func TestUnkept(t *testing.T) {
	m := &Member{term: 2}
	m.log.terms = []oplog.Time{{Term: 1, Index: 1}, {Term: 2, Index: 2}}
	d := &Durable{terms: []uint64{1}, hard: hardState{term: 2, vote: 3}}
	for name, c := range map[string]struct {
		message Raft
		want    string
	}{
		"kept":               {Raft{Type: pb.MsgAppResp, Term: 2, Index: 1}, ""},
		"not kept":           {Raft{Type: pb.MsgAppResp, Term: 2, Index: 2}, "entry 2 of term 2 is not durable on its disk"},
		"of an earlier term": {Raft{Type: pb.MsgAppResp, Term: 1, Index: 2}, ""},
		"vote":               {Raft{Type: pb.MsgVoteResp, Term: 2, To: 3}, ""},
		"for somebody else":  {Raft{Type: pb.MsgVoteResp, Term: 2, To: 1}, "its vote in term 2 is not durable on its disk"},
		"of the next term":   {Raft{Type: pb.MsgVoteResp, Term: 3, To: 3}, "its vote in term 3 is not durable on its disk"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := m.Unkept(&c.message, d); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if (&Raft{Type: pb.MsgVoteResp, Reject: true}).Acknowledges() {
		t.Error("a refusal acknowledges something")
	}
}
