package runner

import (
	"testing"

	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/sim"
)

// TestSituations counts what changed, and nothing twice.
func TestSituations(t *testing.T) {
	c := newCoverage(shardstore.Store{}.Describe())
	grows := func(want int, what string, do func()) {
		t.Helper()
		before := len(c.all())
		if do(); len(c.all())-before != want {
			t.Errorf("%s is %d new situations, want %d", what, len(c.all())-before, want)
		}
	}
	cloning := func() { c.observe(&trace.Event{Kind: trace.DonorState, Value: "kCloning"}) }
	grows(2, "a state of the donor", cloning)
	grows(0, "the same state again", cloning)
	c.send(sim.InjectionPoint{Class: "RecvChunkCommit", Call: true})
	grows(1, "the same state with a message of the commit window on its way", cloning)
	c.send(sim.InjectionPoint{Class: "RecvChunkCommit", Reply: true})
	grows(2, "a fault", func() { c.observe(&trace.Event{Kind: trace.Fault, Value: "pause"}) })
	c.observe(&trace.Event{Kind: trace.Repair, Value: "pause"})
	grows(2, "a state of the recipient", func() { c.observe(&trace.Event{Kind: trace.RecipientState, Value: "kClone"}) })
	grows(1, "another state in which it does the same", func() { c.observe(&trace.Event{Kind: trace.RecipientState, Value: "kCatchup"}) })
}

// TestPartsOfRecipients knows what a recipient does in each state.
func TestPartsOfRecipients(t *testing.T) {
	for _, state := range RecipientStates {
		if partOf[state] == "" {
			t.Errorf("nobody knows what a recipient does in %s", state)
		}
	}
}
