package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
)

// Two events that read alike are told apart by the names of the fields in which they differ.
func TestFieldsOfADivergence(t *testing.T) {
	written := func(doc uint64) trace.Event {
		e := *trace.AppliedEvent{
			Shard: "shard-a", Term: 1, Index: 7, NS: "test.docs", Key: "k", DocID: "k",
			Actor: trace.Recipient, For: "shard-b/1/1", Hash: doc,
		}.Event()
		e.Step = 42
		return e
	}
	for name, c := range map[string]struct {
		recorded, now trace.Event
		want          []string
	}{
		"another document": {written(1), written(2), []string{"Hash"}},
		"another key": {written(1), func() trace.Event {
			e := written(1)
			e.Key = "l"
			return e
		}(), nil}, // the sentences say so
	} {
		d := &Divergence{Recorded: "a", Now: "b"}
		d.find([]trace.Event{c.recorded}, []trace.Event{c.now})
		if d.Step != 42 || !slices.Equal(d.Fields, c.want) {
			t.Errorf("%s: step %d, fields %q: %q and %q",
				name, d.Step, d.Fields, d.RecordedNext, d.NowNext)
		}
		says := strings.Contains(d.String(), "which differ in "+strings.Join(c.want, ", "))
		if says != (c.want != nil) {
			t.Errorf("%s: %s", name, d)
		}
	}
	d := &Divergence{Recorded: "a", Now: "b"}
	d.find([]trace.Event{written(1)}, nil)
	if d.NowNext != "the end" || d.Fields != nil {
		t.Errorf("a run that ends early: %+v", d)
	}
}
