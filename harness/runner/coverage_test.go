package runner

import (
	"slices"
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
	cloning := func() { c.observe(trace.DonorAdvancedEvent{State: trace.DonorCloning}.Event()) }
	receiving := func(s trace.RecipientState) {
		c.observe(trace.RecipientAdvancedEvent{State: s}.Event())
	}
	grows(2, "a state of the donor", cloning)
	grows(0, "the same state again", cloning)
	c.send(sim.InjectionPoint{Class: "RecvChunkCommit", Call: true})
	grows(1, "the same state with a message of the commit window on its way", cloning)
	c.send(sim.InjectionPoint{Class: "RecvChunkCommit", Reply: true})
	grows(2, "a fault", func() { c.observe(trace.FaultEvent{FaultKind: "pause"}.Event()) })
	c.observe(trace.RepairEvent{FaultKind: "pause"}.Event())
	grows(2, "a state of the recipient", func() { receiving(trace.RecipientClone) })
	grows(1, "another state in which it does the same", func() {
		receiving(trace.RecipientCatchup)
	})
}

// TestPartsOfRecipients knows what a recipient does in each state.
func TestPartsOfRecipients(t *testing.T) {
	var got []string
	for _, state := range trace.RecipientStates() {
		got = append(got, partOf(state))
	}
	want := []string{
		"receives", "receives", "receives", "receives", "commits", "commits", "has it", "has it",
		"has given up", "has given up",
	}
	if !slices.Equal(got, want) {
		t.Errorf("recipients do %q, not %q", got, want)
	}
}
