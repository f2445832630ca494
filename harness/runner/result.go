package runner

import (
	"fmt"
	"math"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// Result is what came of one run.
type Result struct {
	// Target is the system that was under test, Scenario what it was put through.
	Target   target.Target
	Scenario *scenario.Scenario
	History  []histories.Op
	// Events are all events, when Options.Events asked for them, and Passages what tasks passed for
	// something with an identifier.
	Events   []trace.Event
	Passages []Passage
	Verdicts []checkers.Verdict
	// Hash is the trace hash after Steps steps: equal scenarios and builds give equal hashes.
	Hash    uint64
	Steps   uint64
	Virtual time.Duration
	*Counters
	// Weaknesses are those that the run has shown, by name: only a version of the protocol that is
	// known for them has any.
	Weaknesses []string
	// Curve is how data lay on the shards, when Options.Curve asked for it or the run was saved.
	Curve []target.Sample
	// Repaired says what an operator had to repair before the nodes were surveyed.
	Repaired []string
	// Unfinished is what had not ended when the time was up.
	Unfinished []endstate.Unfinished
	// Coverage are the situations that the run went through, in ascending order, when
	// Options.Coverage asked for them. What the numbers stand for is no matter; equal ones stand
	// for the same in all runs of a build.
	Coverage []uint64
	// Places are where in the code the events were emitted, by step, when Options.Places asked for
	// them: file and line with the function, and then its callers.
	Places map[uint64][]string
	// Decisions are the faults that chance decided.
	Decisions []scenario.Decision
}

// Worst is the verdict that decides the run.
func (r *Result) Worst() checkers.Verdict { return checkers.Worst(r.Verdicts) }

// Passed is true when every promise of the protocol's version held and every checker could decide.
func (r *Result) Passed() bool {
	o := r.Worst().Outcome
	return o == checkers.Pass || o == checkers.Documented
}

// Signature groups failures of the same kind: empty for a run that passed.
func (r *Result) Signature() string {
	switch worst := r.Worst(); {
	case r.Passed():
		return ""
	case len(worst.Violations) > 0:
		return string(worst.Violations[0].Signature)
	default:
		return worst.Checker + "-" + string(worst.Outcome)
	}
}

// Kind tells failures apart that clients see alike: the signature, and behind it that of what the
// step oracles first saw go wrong with the same key, if they saw anything. Empty for a run that
// passed.
func (r *Result) Kind() string {
	worst := r.Worst()
	if r.Passed() || len(worst.Violations) == 0 || len(worst.Violations[0].Events) > 0 {
		return r.Signature()
	}
	about, root, first := &worst.Violations[0], "", uint64(math.MaxUint64)
	for i := range r.Verdicts {
		for j := range r.Verdicts[i].Violations {
			v := &r.Verdicts[i].Violations[j]
			if len(v.Events) == 0 || about.Key != "" && v.Key != about.Key {
				continue
			}
			if step := v.Events[len(v.Events)-1]; step < first {
				root, first = "/"+string(v.Signature), step
			}
		}
	}
	return r.Signature() + root
}

// IdleFaults are the numbers of the scenario's faults that never took effect. It needs the run's
// events.
func (r *Result) IdleFaults() (idle []int) {
	begun := map[int]bool{}
	for i := range r.Events {
		if r.Events[i].Kind == trace.Fault {
			begun[r.Events[i].FaultNumber()] = true
		}
	}
	for i := range r.Scenario.Faults {
		if id := r.Scenario.Faults[i].ID; !begun[id] {
			idle = append(idle, id)
		}
	}
	return idle
}

// Plan is the scenario with every fault that chance decided written out: it replays this run step
// by step, and taking a line out leaves all other answers as they were.
func (r *Result) Plan() *scenario.Scenario {
	plan := *r.Scenario
	plan.Planned, plan.Decisions = true, r.Decisions
	return &plan
}

// HashText is the trace hash as it is printed and stored.
func (r *Result) HashText() string { return fmt.Sprintf("%016x", r.Hash) }

// StepLimit is how many steps a changed scenario may take before it counts as another one: it never
// becomes quiescent, as this run did.
func (r *Result) StepLimit() uint64 {
	const factor, least = 4, 500_000
	return factor*r.Steps + least
}
