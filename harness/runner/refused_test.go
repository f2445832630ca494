package runner

import (
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// An insert that is refused as a duplicate has seen a document: checkers hold it against the store,
// as they do a read.
func TestRefusedInserts(t *testing.T) {
	s, err := Parse(store, "refused.txt", `shardproof scenario 2
seed 1
topology shards=2 members=3 config=3 routers=1 clients=1
faults-end 1s
limit 30m
collection test.docs ranged keys=4 preload=2 bounds=2
op 1 at 10ms client 0 insert test.docs k=1 v=w1
op 2 at 20ms client 0 insert test.docs k=3 v=w2
`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(s, Options{Targets: store})
	if err != nil || !r.Passed() {
		t.Fatal(err, r.Signature())
	}
	for _, op := range r.History {
		if op.Kind != scenario.Insert || op.ID < 1 {
			continue
		}
		if applied := op.ID == 2; op.Outcome != histories.OK || op.Result.Applied != applied {
			t.Errorf("insert %d: %s, applied %v", op.ID, op.Outcome, op.Result.Applied)
		}
	}
}
