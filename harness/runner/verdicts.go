package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// conclude hands the run to Options.Record, and then judges it.
func (r *run) conclude() (*Result, error) {
	r.history.close()
	result := r.result()
	if r.options.Unchecked {
		return result, nil
	}
	var err error
	if r.options.Record != nil {
		err = r.options.Record(result)
	}
	result.Verdicts = r.verdicts(result)
	r.excuse(result)
	return result, err
}

// result is the run with everything but its verdicts.
func (r *run) result() *Result {
	counts := r.recorded.counts.Counters
	result := &Result{
		Target:     r.target,
		Scenario:   r.scenario,
		History:    r.history.ops,
		Events:     r.recorded.events,
		Passages:   r.recorded.passages.all,
		Places:     r.recorded.places,
		Hash:       r.world.Hash(),
		Steps:      r.world.Steps(),
		Virtual:    time.Duration(r.world.Now()),
		Counters:   counts,
		Coverage:   r.recorded.coverage.all(),
		Unfinished: r.checks.unfinished,
		Repaired:   r.checks.repaired,
	}
	for _, d := range r.world.Decisions() {
		result.Decisions = append(result.Decisions, scenario.Decision(d))
	}
	if r.recorded.curve != nil {
		result.Curve = r.recorded.curve.samples
	}
	counts.Runs, counts.Steps, counts.Virtual = 1, result.Steps, int64(result.Virtual)
	if r.scenario.Protocol == "4.2" {
		counts.Older = 1
	}
	addAll(counts.Statistics, r.checks.statistics)
	counts.Sites = r.world.PointHits()
	counts.countOps(r.history.ops)
	return result
}

// excuse reports what the system is known for instead of the promises that this breaks.
func (r *run) excuse(result *Result) {
	e, ok := r.system.(target.Excuser)
	if !ok {
		return
	}
	result.Weaknesses = e.Excuse(result.History, result.Verdicts)
	for _, name := range result.Weaknesses {
		result.Counters.Weaknesses[name]++
	}
}

// verdicts asks every checker. A run that broke inside is judged by that and by what the system's
// own judge saw until then: its history ends in the middle.
func (r *run) verdicts(result *Result) []checkers.Verdict {
	if broken, ok := r.world.Err().(*sim.BrokenInvariant); ok {
		return append([]checkers.Verdict{crashed(broken)}, r.judged()...)
	}
	progress := endstate.Progress{
		Asked:      len(result.History) + len(r.scenario.Migrations) + len(r.scenario.Primaries),
		Unfinished: r.checks.unfinished, Waiting: r.checks.waiting, Idle: r.nothingLeft,
	}
	verdicts := append(checkers.Check(result.History, checkers.StandardLimits()), progress.Check())
	for i := range r.checks.audits {
		verdicts = append(verdicts, r.checks.audits[i].Check())
	}
	if _, probes := r.system.(target.Prober); probes {
		verdicts = append(verdicts, r.checks.trials.Check())
	}
	verdicts = slices.DeleteFunc(verdicts, func(v checkers.Verdict) bool {
		return !r.about.Holds(v.Checker)
	})
	return append(verdicts, r.judged()...)
}

// judged is what a system that judges its own events has seen.
func (r *run) judged() []checkers.Verdict {
	if j, ok := r.system.(target.Judge); ok {
		return j.Verdicts()
	}
	return nil
}

// Assertions is the promise that the system's own assertions hold and its code does not panic
// (K-CRASH).
var Assertions = checkers.Checker{
	Name:    "assertions",
	Promise: "No assertion in the store fails, and none of the store's code panics.",
	Signatures: checkers.Meanings{
		assertionFailed: "an assertion of the store failed, or its code panicked",
	},
}

const assertionFailed checkers.Signature = "assertion-failed"

// Checkers is every checker that judges a run of a target, in the order in which they are listed.
func Checkers(t target.Target) []checkers.Checker {
	return append(slices.Clone(t.Describe().Promises), Assertions)
}

func crashed(b *sim.BrokenInvariant) checkers.Verdict {
	return checkers.Verdict{
		Checker: Assertions.Name,
		Promise: Assertions.Promise,
		Outcome: checkers.Fail,
		Checked: 1,
		Found:   1,
		Violations: []checkers.Violation{{
			Signature: assertionFailed,
			Broke:     b.Error(),
			Events:    []uint64{b.Step},
			Because: []string{fmt.Sprintf("step %d at %s ended the run",
				b.Step, time.Duration(b.At))},
		}},
	}
}
