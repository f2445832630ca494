package runner

import (
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestSuperseded: while the answers to a primary are held, another member is elected and the old one
// does not step down; a linearizable read that it serves is not answered before the fault ends.
func TestSuperseded(t *testing.T) {
	s, err := Parse(store, "superseded", `shardproof scenario 2
topology shards=1 members=3 config=1 routers=1 clients=2
faults-end 3s
limit 1m30s
collection test.docs ranged keys=4 preload=4
preset quick
op 1 at 1.02s client 0 read test.docs k=1
op 2 at 2.5s client 1 write test.docs k=1 v=w2
fault 1 at 1s superseded shard-a.primary answers=held for 150ms
`)
	if err != nil {
		t.Fatal(err)
	}
	var elected, begun, ended int64
	r, err := Run(s, Options{Targets: store, Observers: []Observer{{Event: func(e *trace.Event) {
		switch {
		case e.Kind == trace.Fault:
			begun = e.At
		case e.Kind == trace.Repair && ended == 0:
			ended = e.At
		case e.Kind == trace.Elected && e.Shard == "shard-a" && begun > 0 && elected == 0:
			elected = e.At
		}
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed() {
		t.Errorf("%s: %v", r.Signature(), r.Worst().Violations)
	}
	if elected == 0 || ended == 0 || elected > ended {
		t.Errorf("held from %d to %d, and another member was elected at %d", begun, ended, elected)
	}
	for i := range r.History {
		if op := &r.History[i]; op.ID == 1 && op.Outcome == histories.OK && op.ReturnAt < ended {
			t.Errorf("the old primary answered the read at %d, before %d", op.ReturnAt, ended)
		}
	}
}
