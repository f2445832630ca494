package explain

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// on makes an event of a node.
func on(node string, step uint64, e *trace.Event) trace.Event {
	e.Node, e.Step, e.At = node, step, int64(step)*int64(1e6)
	return *e
}

// TestHolders: who has an entry that a majority lacks is told; nothing of one that it has.
func TestHolders(t *testing.T) {
	applied := func(node string, step, index uint64) trace.Event {
		return on(node, step, trace.AppliedEvent{
			Actor: trace.User, Shard: "shard-a", Term: 1, Index: index, NS: "test.docs", Key: "k",
		}.Event())
	}
	s := newSlice(Run{Events: []trace.Event{
		applied("shard-a.0", 1, 7), applied("shard-a.1", 2, 7),
		on("shard-a.0", 3, trace.MajorityEvent{Shard: "shard-a", Term: 1, Index: 7}.Event()),
		applied("shard-a.0", 4, 8),
	}}, Contradiction{})
	if got := s.holders("shard-a", 7, 3); got != "" {
		t.Errorf("%q of what a majority has", got)
	}
	want := "; of shard-a, only shard-a.0 has it (index 8), a majority has the log to index 7"
	if got := s.holders("shard-a", 8, 3); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// participation is an exchange about a step of operation 9 on a collection.
func participation(step uint64, what string) trace.Event {
	return on("shard-a.0", step, trace.ExchangedEvent{
		Peer: "config.0", NS: "test.docs", Request: "ShardsvrParticipate",
		Arguments: []string{"Operation 9", "Step " + what}, Answer: "Done",
		Arrived: int64(step) * int64(1e6),
	}.Event())
}

// TestLateStep: a step of an operation that has ended on the shard is told as that; requests that
// are the same take one line.
func TestLateStep(t *testing.T) {
	s := newSlice(Run{Events: []trace.Event{
		participation(1, "block"), participation(2, "release"), participation(3, "block"),
	}}, Contradiction{})
	if got := s.exchange(0)[0].Text; strings.Contains(got, "ended") {
		t.Errorf("%q comes in time", got)
	}
	late := s.exchange(2)[0]
	if !strings.Contains(late.Text, "although operation 9 had ended there at 2ms") {
		t.Errorf("%q does not say that it is late", late.Text)
	}
	again := late
	again.At = int64(5e6)
	joined := joinRepeats([]Moment{late, again, {Text: "something else"}, again})
	if len(joined) != 3 || !strings.HasSuffix(joined[0].Text, ", and again at 5ms") {
		t.Errorf("%v", joined)
	}
}

// TestPassedChange: an answer whose token is behind a change says that the change was delivered.
func TestPassedChange(t *testing.T) {
	at := func(n uint64) histories.Token { return histories.Token{Time: n << 20, Shard: "shard-a"} }
	change := histories.Change{Token: at(5), Kind: "insert"}
	reader := func(id int, changes ...histories.Change) histories.Op {
		return histories.Op{ID: id, Stream: &histories.Stream{
			After: at(1), Batches: []histories.ChangeBatch{{Upto: at(3)}, {Changes: changes, Upto: at(6)}},
		}}
	}
	history := []histories.Op{reader(1), reader(2, change)}
	s := newSlice(Run{History: history}, Contradiction{Text: "insert at 5.0 of shard-a/0"})
	for i, want := range []string{"but not this one", "this one among them"} {
		if got := s.passed(&history[i]); !strings.Contains(got, "its answer 2") ||
			!strings.HasSuffix(got, want) {
			t.Errorf("%q does not end with %q", got, want)
		}
	}
}
