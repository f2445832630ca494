package replset

import (
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/raft/v3/raftpb"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// drawJournal writes random records as a member may, and keeps what each prefix of them means.
func drawJournal(t *rapid.T) (file []byte, ends []int, meaning []journalContent) {
	r := journalContent{}
	note := func() {
		kept := r
		kept.entries = append([]pb.Entry(nil), r.entries...)
		ends, meaning = append(ends, len(file)), append(meaning, kept)
	}
	note()
	term := uint64(1)
	for range rapid.IntRange(0, 20).Draw(t, "records") {
		term += rapid.Uint64Range(0, 1).Draw(t, "term")
		if rapid.Bool().Draw(t, "hard") {
			r.hard = hardState{term, rapid.Uint64Range(0, 3).Draw(t, "vote"), r.last()}
			file = appendHard(file, r.hard)
		} else {
			at := rapid.IntRange(0, len(r.entries)).Draw(t, "at")
			index := r.base.Index + uint64(at) + 1
			e := pb.Entry{Term: term, Index: index}
			if data := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data"); len(data) > 0 {
				e.Data = data
			}
			file = appendEntry(file, &e)
			r.entries = append(r.entries[:at:at], e)
		}
		note()
	}
	return file, ends, meaning
}

// TestTornJournal cuts journals anywhere, with garbage behind or without: what was whole is read,
// nothing else.
func TestTornJournal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file, ends, meaning := drawJournal(t)
		cut := rapid.IntRange(0, len(file)).Draw(t, "cut")
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= cut {
			whole++
		}
		torn := append([]byte(nil), file[:cut]...)
		if cut > ends[whole] && rapid.Bool().Draw(t, "flip") {
			torn[rapid.IntRange(ends[whole], cut-1).Draw(t, "where")] ^= 0x40
		}
		got, sound := readJournal(torn)
		if sound != ends[whole] {
			t.Fatalf("sound are %d bytes, want %d", sound, ends[whole])
		}
		want := meaning[whole]
		if got.base != want.base || got.hard != want.hard {
			t.Fatalf("read %v %v, want %v %v", got.base, got.hard, want.base, want.hard)
		}
		d := cmp.Diff(want.entries, got.entries)
		if len(want.entries)+len(got.entries) > 0 && d != "" {
			t.Fatal(d)
		}
	})
}

// TestHolds says from which snapshots a journal may go on.
func TestHolds(t *testing.T) {
	r := journalContent{base: oplog.Time{Term: 2, Index: 10}}
	for i := range uint64(3) {
		r.entries = append(r.entries, pb.Entry{Term: 3, Index: 11 + i})
	}
	for at, want := range map[oplog.Time]bool{
		{Term: 2, Index: 9}:  false,
		{Term: 2, Index: 10}: true,
		{Term: 3, Index: 10}: false,
		{Term: 3, Index: 11}: true,
		{Term: 3, Index: 13}: true,
		{Term: 2, Index: 13}: false,
		{Term: 3, Index: 14}: false,
	} {
		if got := r.holds(at); got != want {
			t.Errorf("holds(%s) = %t", at, got)
		}
	}
}

// TestHistory compares the log with a plain list through appends, rollbacks and compactions.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h logHistory
		var all []uint64           // the term of each index, from 1
		var stamps []hlc.Timestamp // the timestamp reached by each
		term, now := uint64(1), hlc.Timestamp(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom(
				[]string{"append", "append", "append", "truncate", "compact"},
			).Draw(t, "do") {
			case "append":
				term += rapid.Uint64Range(0, 5).Draw(t, "newer") / 5
				e := &oplog.Entry{}
				if rapid.Bool().Draw(t, "stamped") {
					now += hlc.Timestamp(rapid.Uint64Range(1, 2).Draw(t, "later"))
					e.TS = now
				}
				h.append(logEntry{term: term, entry: e})
				all, stamps = append(all, term), append(stamps, now)
			case "truncate":
				to := rapid.Uint64Range(h.base.Index, h.last().Index).Draw(t, "to")
				h.truncate(to)
				all, stamps = all[:to], stamps[:to]
				now = slices.Max(append(stamps, 0))
			case "compact":
				h.compact(rapid.Uint64Range(0, h.last().Index).Draw(t, "drop"))
			}
			checkHistory(t, &h, all)
			checkStamps(t, &h, stamps)
		}
	})
}

// checkStamps asks for what comes after every time: it is complete unless something of it has been
// forgotten.
func checkStamps(t *rapid.T, h *logHistory, stamps []hlc.Timestamp) {
	for ts := range slices.Max(append(stamps, 0)) + 2 {
		at := sort.Search(len(stamps), func(i int) bool { return stamps[i] > ts })
		index, complete := h.after(ts)
		if want := uint64(at) >= h.base.Index; complete != want {
			t.Fatalf("after(%d) of %v from %s on is complete: %t", ts, stamps, h.base, complete)
		}
		if complete && index != uint64(at)+1 {
			t.Fatalf("after(%d) of %v begins at %d", ts, stamps, index)
		}
	}
}

func checkHistory(t *rapid.T, h *logHistory, all []uint64) {
	if h.last().Index != uint64(len(all)) {
		t.Fatalf("last is %s, want index %d", h.last(), len(all))
	}
	var terms []oplog.Time
	for i, term := range all {
		index := uint64(i) + 1
		if l, ok := h.at(index); ok != (index > h.base.Index) || ok && l.term != term {
			t.Fatalf("at(%d) = %v, %t", index, l, ok)
		}
		if n := len(terms); n > 0 && terms[n-1].Term == term {
			terms = terms[:n-1]
		}
		terms = append(terms, oplog.Time{Term: term, Index: index})
	}
	if got, want := describeTerms(h.terms), describeTerms(terms); got != want {
		t.Fatalf("terms %q, want %q", got, want)
	}
}
