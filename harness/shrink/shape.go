package shrink

import (
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// quickRuns are enough to get rid of most faults that a failure does not need: a few seconds.
const quickRuns = 60

// Shape tells failures of one signature apart by what is left of them after a quick shrink: how far
// the last migration had come where the promise broke, and the kinds of the faults, as in
// "kCommittingOnConfig, crash + pause". A bug may show in several shapes; two bugs seldom share
// one. The error is one of Failure.
func Shape(targets target.Set, r *runner.Result) (string, error) {
	found, err := Failure(r.Scenario, Options{Targets: targets, Workers: 1, Runs: quickRuns})
	if err != nil {
		return "", err
	}
	small, err := runner.Run(found.Scenario, runner.Options{Targets: targets, Events: true})
	if err != nil {
		return "", err
	}
	return shapeOf(small), nil
}

func shapeOf(r *runner.Result) string {
	var faults []string
	for i := range r.Scenario.Faults {
		faults = append(faults, r.Scenario.Faults[i].Kind)
	}
	slices.Sort(faults)
	if len(faults) == 0 {
		faults = []string{"no fault"}
	}
	return phaseAt(r.Events, brokenAt(r)) + ", " + strings.Join(slices.Compact(faults), " + ")
}

// brokenAt is the virtual time of the first evidence that an oracle has, or else of the last that
// clients have; the end of the run when neither has any.
func brokenAt(r *runner.Result) int64 {
	worst := r.Worst()
	if len(worst.Violations) == 0 {
		return r.Virtual.Nanoseconds()
	}
	about := &worst.Violations[0]
	if at, seen := seenInside(r, about); seen {
		return at
	}
	var last int64
	for _, id := range about.Ops {
		i := slices.IndexFunc(r.History, func(op histories.Op) bool { return op.ID == id })
		if i >= 0 {
			last = max(last, r.History[i].ReturnAt)
		}
	}
	if last == 0 {
		return r.Virtual.Nanoseconds()
	}
	return last
}

// seenInside is when an oracle first saw something go wrong with the key of a violation.
func seenInside(r *runner.Result, about *checkers.Violation) (first int64, seen bool) {
	for i := range r.Verdicts {
		for j := range r.Verdicts[i].Violations {
			v := &r.Verdicts[i].Violations[j]
			if len(v.Events) == 0 || about.Key != "" && v.Key != about.Key {
				continue
			}
			at, known := timeOf(r.Events, v.Events[len(v.Events)-1])
			if known && (!seen || at < first) {
				first, seen = at, true
			}
		}
	}
	return first, seen
}

func timeOf(events []trace.Event, step uint64) (at int64, known bool) {
	i, known := slices.BinarySearchFunc(events, step, func(e trace.Event, step uint64) int {
		return int(int64(e.Step) - int64(step))
	})
	if !known {
		return 0, false
	}
	return events[i].At, true
}

// phaseAt is the state that a donor entered last.
func phaseAt(events []trace.Event, at int64) string {
	phase := "no migration"
	for i := range events {
		if e := &events[i]; e.Kind == trace.DonorAdvanced && e.At <= at {
			phase = e.State()
		}
	}
	return phase
}
