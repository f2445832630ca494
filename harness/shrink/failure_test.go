package shrink

import (
	"errors"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
)

// hurried is the scenario of a seed, with so little time that a range deletion is left over.
func hurried(t *testing.T) *Shrunk {
	t.Helper()
	p, err := generate.FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	s := generate.Draw(2, p)
	s.FaultsEnd, s.Limit = 10*time.Millisecond, time.Millisecond
	found, err := Failure(s, Options{Targets: store, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestShrinkKeepsTheSignature shrinks a real failure. What is left fails in the same way, is small,
// and its text with the labels replays step by step.
func TestShrinkKeepsTheSignature(t *testing.T) {
	found := hurried(t)
	if found.From.Signature() != found.To.Signature() || !found.Complete {
		t.Errorf("signature %s became %s, complete %t",
			found.From.Signature(), found.To.Signature(), found.Complete)
	}
	if s := found.Scenario; len(s.Ops) > 10 || len(s.Faults) > 2 {
		t.Errorf("%s are left of %s", Sizes(s), Sizes(found.From.Scenario))
	}
	again, err := runner.Parse(store, "labelled", Annotate(found.Scenario, found.Labels))
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.Run(again, runner.Options{Targets: store, Events: true})
	if err != nil || r.Hash != found.To.Hash {
		t.Errorf("the labelled text hashed to %s, %v; want %s",
			r.HashText(), err, found.To.HashText())
	}
}

// TestShrinkRefusesWhatPasses has nothing to do.
func TestShrinkRefusesWhatPasses(t *testing.T) {
	p, err := generate.FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Failure(generate.Draw(1, p), Options{Targets: store})
	if _, ok := errors.AsType[*PassedError](err); !ok {
		t.Errorf("error %v", err)
	}
}

// TestNeighbourPartsFromTheFailure finds a run that passes because a fault comes later, and names
// the first difference.
func TestNeighbourPartsFromTheFailure(t *testing.T) {
	s, err := runner.Parse(store, "hasty", `shardproof scenario 2
seed 7
topology shards=2 members=3 config=3 routers=1 clients=1
faults-end 10s
limit 100ms
collection test.docs ranged keys=4 preload=4 bounds=2
op 1 at 10ms client 0 read test.docs k=1
fault 1 at 9990ms crash shard-a.primary
fault 2 at 100ms crash config.1 for 200ms
`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.Run(s, runner.Options{Targets: store, Events: true})
	if err != nil || r.Passed() {
		t.Fatalf("the scenario passes, %v", err)
	}
	n := explain.FindNearestPassing(r, nil, 0, nil)
	if n == nil || n.Change != "without fault 1" && n.Change != "with fault 1 10ms later" &&
		n.Change != "with fault 1 100ms later" || n.Parting.Step < 1000 {
		t.Errorf("neighbour %+v", n)
	}
}

// TestByHand has operators ask for the migrations of the balancer: the scenario can be run, and as
// many chunks move without it.
func TestByHand(t *testing.T) {
	p, err := generate.FindProfile("balancer")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); ; seed++ {
		s := generate.Draw(seed, p)
		if !s.Balancer {
			continue
		}
		r, err := runner.Run(s, runner.Options{Targets: store, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		other := manualMoves(r)
		if other == nil {
			continue
		}
		again, err := runner.Run(other, runner.Options{Targets: store})
		if err != nil || other.Balancer || len(other.Migrations) == 0 || !again.Passed() {
			t.Errorf("seed %d: %v, signature %q of\n%s", seed, err, again.Signature(), other)
		}
		return
	}
}
