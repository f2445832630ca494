package explain

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// asked is an exchange that takes from its first to its second step, a millisecond each.
func asked(from, step uint64, node string, e trace.ExchangedEvent) trace.Event {
	e.Arrived = int64(from) * int64(1e6)
	return on(node, step, e.Event())
}

// TestFetchedText: a request for changes that was under way when a document was written, and does
// not bring it, is told with the write; so is the next.
func TestFetchedText(t *testing.T) {
	k := string(key.Int(5))
	fetch := trace.ExchangedEvent{
		Peer: "b.0", Request: "TransferMods", Arguments: []string{"Session a_b_a/1/1"},
		Answer: "Mods Deletes (0)",
	}
	s := newSlice(Run{Events: []trace.Event{
		on("a.0", 2, trace.AppliedEvent{
			Actor: trace.User, Shard: "a", Term: 1, Index: 3, NS: "test.docs", Key: k, DocID: k, Hash: 7,
		}.Event()),
		asked(1, 3, "a.0", fetch), asked(4, 4, "a.0", fetch), asked(5, 5, "a.0", fetch),
		on("config.0", 6, trace.MajorityEvent{Shard: "config", Term: 1, Index: 9}.Event()),
	}, Passages: passed("a.0", "a/1/1", "donor.serve.transferMods.splice")}, Contradiction{})
	s.fetches(&turn{at: 4, doc: document{"test.docs", k, k}, migration: "a/1/1", lacks: 7})
	for i, want := range []string{
		"", "while this was being answered; meanwhile a.0 passed donor.serve.transferMods.splice at 1ms",
		"before this was asked", "",
	} {
		got := s.fetchedText(i)
		if (want == "") != (got == "") || !strings.HasSuffix(got, want) {
			t.Errorf("%q of exchange %d does not end with %q", got, i, want)
		}
	}
}

// TestTasksText: a request about a range deletion that its shard has dropped is told with the task
// that the shard has there now; one about the only task, without.
func TestTasksText(t *testing.T) {
	task := func(step uint64, id string, state trace.DeletionState) trace.Event {
		return on("d.0", step, trace.RangeDeletionEvent{
			Shard: "d", NS: "test.docs", Min: string(key.Int(1)), Max: string(key.Int(3)),
			Migration: id, State: state,
		}.Event())
	}
	request := trace.ExchangedEvent{
		Peer: "a.1", NS: "test.docs", Request: "RangeTaskOp",
		Arguments: []string{"Migration a/1/1", "Min 1", "Max 3", "Op orphans"},
	}
	s := newSlice(Run{Events: []trace.Event{
		task(1, "a/1/1", trace.DeletionPending), asked(2, 2, "d.0", request),
		task(3, "a/1/1", trace.DeletionDropped), task(4, "d/1/2", trace.DeletionPending),
		asked(5, 5, "d.0", request),
	}}, Contradiction{})
	if got := s.tasksText(1); got != "" {
		t.Errorf("%q of the only task", got)
	}
	want := "; of the tasks of d for this range, the one of a/1/1 is dropped since 3ms, and the one " +
		"of d/1/2 is pending since 4ms"
	if got := s.tasksText(4); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestParticipation: the steps that shards took for a change of the catalog stand before or after
// it, as they were taken.
func TestParticipation(t *testing.T) {
	k := string(key.Int(5))
	created := trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 4, NS: "test.docs", Why: "shardCollection",
		Chunks: []trace.Chunk{{Min: string(key.Min), Max: string(key.Max), Shard: "a"}},
	}
	s := newSlice(Run{Events: []trace.Event{
		participation(1, "block"), participation(2, "create"), on("config.0", 3, created.Event()),
		participation(4, "release"),
	}}, Contradiction{NS: "test.docs", Key: "5"})
	s.docs = []document{{"test.docs", k, k}}
	s.choose(2, Close)
	got := s.participation(2)
	want := "for shardCollection of test.docs, the config server has requested these steps before the " +
		"change: shard-a.0 block, shard-a.0 create; and these after it: shard-a.0 release"
	if len(got) != 1 || got[0].Text != want {
		t.Errorf("%v, not %q", got, want)
	}
}

// TestEnding: a cursor that the contradiction names and that no request closes is told with what
// its node did in that moment; one that a request closes is not.
func TestEnding(t *testing.T) {
	closed := func(step uint64, cursor string) trace.Event {
		return on("a.0", step, trace.CursorClosedEvent{
			Shard: "a", NS: "test.docs", Cursor: cursor,
		}.Event())
	}
	donor := on("a.0", 3, trace.DonorAdvancedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Migration: "a/1/2", State: trace.DonorCloning,
	}.Event())
	s := newSlice(Run{Events: []trace.Event{
		closed(3, "a.0/1/1"), closed(3, "a.0/1/2"), donor, closed(5, "a.0/1/3"),
		asked(4, 6, "a.0", trace.ExchangedEvent{
			Peer: "router.0", Request: "GetMore", Arguments: []string{"Cursor a.0/1/3"},
		}),
	}}, Contradiction{Text: "cursor a.0/1/1 and cursor a.0/1/3"})
	s.endings()
	if s.chosen[0] != Must || s.chosen[3] != 0 {
		t.Errorf("chosen are %v", s.chosen)
	}
	got := s.ending(0)
	if !strings.HasPrefix(got, ", which no request asks for, and with it a.0/1/2; in the same moment: "+
		"migration a/1/2") {
		t.Errorf("%q", got)
	}
}
