package shrink

import (
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// Two failures that break the same promise have two shapes when the migration had come to another
// state, or other faults are left.
func TestShapeOf(t *testing.T) {
	enters := func(step uint64, at int64, state trace.DonorState) trace.Event {
		e := trace.DonorAdvancedEvent{State: state}.Event()
		e.Step, e.At = step, at
		return *e
	}
	events := []trace.Event{
		enters(5, 50, trace.DonorCloning), enters(9, 90, trace.DonorCommittingOnConfig),
		enters(20, 200, trace.DonorDone),
	}
	failing := func(v checkers.Violation, faults ...string) *runner.Result {
		r := &runner.Result{
			Scenario: &scenario.Scenario{}, Events: events, Virtual: 1000,
			History: []histories.Op{{ID: 1, ReturnAt: 60}, {ID: 2, ReturnAt: 10}},
			Verdicts: []checkers.Verdict{{
				Outcome: checkers.Fail, Violations: []checkers.Violation{v},
			}},
		}
		for _, kind := range faults {
			r.Scenario.Faults = append(r.Scenario.Faults, scenario.Fault{Kind: kind})
		}
		return r
	}
	of := func(events []uint64, ops ...int) checkers.Violation {
		return checkers.Violation{Signature: "lost-write", Events: events, Ops: ops}
	}
	for want, r := range map[string]*runner.Result{
		"kCloning, no fault":  failing(of(nil, 2, 1)),
		"no migration, pause": failing(of(nil, 2), "pause"),
		"kCommittingOnConfig, crash + pause": failing(
			of([]uint64{5, 9}), "pause", "crash", "pause"),
		"kDone, no fault": failing(of(nil)),
	} {
		if got := shapeOf(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
