package runner

import (
	"testing"

	"github.com/shardproof/shardproof/histories"
)

// TestUnreplicated: while a primary is unreplicated no majority has what it writes, though its set
// follows it, and what it has read is not confirmed. Clients hear of it in the end, also if their
// first requests are not answered.
func TestUnreplicated(t *testing.T) {
	for _, args := range []string{"", "ending=late ", "ending=late unanswered=2 "} {
		t.Run(args, func(t *testing.T) { unreplicated(t, args) })
	}
}

func unreplicated(t *testing.T, args string) {
	s, err := Parse(store, "unreplicated", `shardproof scenario 2
topology shards=1 members=3 config=1 routers=1 clients=3
faults-end 3s
limit 1m30s
collection test.docs ranged keys=4 preload=4
preset quick
op 1 at 1.1s client 0 write test.docs k=1 v=w1
op 2 at 1.15s client 1 read test.docs k=1
op 3 at 2.5s client 2 read test.docs k=1
fault 1 at 1s unreplicated shard-a.* `+args+`for 600ms
`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(s, Options{Targets: store})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed() {
		t.Errorf("%s: %v", r.Signature(), r.Worst().Violations)
	}
	const ends = 1_700_000_000 // nanoseconds: the fault begins with the first write
	for i := range r.History {
		op := &r.History[i]
		switch early := op.Outcome == histories.OK && op.ReturnAt < ends; {
		case op.ID == 1 || op.ID == 2:
			if early {
				t.Errorf("operation %d was answered at %d, before the power was lost", op.ID, op.ReturnAt)
			}
		case op.ID == 3 && op.Outcome != histories.OK:
			t.Errorf("operation 3 failed after the power was lost: %s", op.Outcome)
		}
	}
}
