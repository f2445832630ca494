package traced

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/histories/trace"
)

// What events tell of is told apart by who acts and by the state; only the two ways in which a
// recipient gives up are one step.
func TestSteps(t *testing.T) {
	seen := map[migrationmodel.Step]string{}
	add := func(step migrationmodel.Step, what string) {
		t.Helper()
		switch earlier, known := seen[step]; {
		case step == migrationmodel.Unseen:
			t.Errorf("%s tells of no step", what)
		case known:
			t.Errorf("%s tells of the step of %s", what, earlier)
		}
		seen[step] = what
	}
	for s := trace.DonorCreated; s <= trace.DonorDone; s++ {
		add(Step(trace.DonorAdvancedEvent{State: s}.Event()), "donor "+s.String())
	}
	for s := trace.RecipientReady; s <= trace.RecipientFail; s++ {
		add(Step(trace.RecipientAdvancedEvent{State: s}.Event()), "recipient "+s.String())
	}
	for s := trace.DeletionPending; s <= trace.DeletionDropped; s++ {
		add(DonorDeletion(s), "donor's deletion "+s.String())
		add(RecipientDeletion(s), "recipient's deletion "+s.String())
	}
	for _, d := range []trace.Decision{trace.Committed, trace.Aborted} {
		add(Step(trace.DecisionMadeEvent{Decision: d}.Event()), "decision "+d.String())
		add(Step(trace.MigrationEndedEvent{Decision: d}.Event()), "end "+d.String())
	}
	add(Step(trace.CriticalSectionEvent{
		Actor: trace.Donor, State: trace.ReadsBlocked,
	}.Event()), "donor blocks reads")
	for _, s := range []trace.SectionState{trace.WritesBlocked, trace.SectionReleased} {
		for _, actor := range []trace.Actor{trace.Donor, trace.Recipient} {
			add(Step(trace.CriticalSectionEvent{Actor: actor, State: s}.Event()),
				actor.String()+" "+s.String())
		}
	}
	fails := Step(trace.RecipientAdvancedEvent{State: trace.RecipientFail}.Event())
	if got := Step(trace.RecipientAdvancedEvent{State: trace.RecipientAbort}.Event()); got != fails {
		t.Errorf("a recipient that aborts tells of step %v, one that fails of %v", got, fails)
	}
	if got := Step(trace.RangeDeletionEvent{}.Event()); got != migrationmodel.Unseen {
		t.Errorf("a range deletion alone tells of step %v", got)
	}
}
