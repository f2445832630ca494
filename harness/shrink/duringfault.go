package shrink

import (
	"slices"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// duringFaults are scenarios with only those operations of a run with events that were in progress
// when something hit them, each begun when it was: all, and those with one decision of chance
// alone. A decision counts the messages of its kind, and with fewer operations the one that it has
// hit comes earlier.
func duringFaults(r *runner.Result) (all []*scenario.Scenario) {
	s := opsWhenTheyBegan(r)
	s.Streams = nil
	s.Ops = slices.DeleteFunc(s.Ops, func(o scenario.Op) bool { return !wasHit(r, o.ID) })
	for _, d := range s.Decisions[:min(len(s.Decisions), faultsKept)] {
		for nth := range min(d.Occurrence, earliestMessages) {
			c := s.Clone()
			d.Occurrence = nth + 1
			c.Faults, c.Decisions = nil, []scenario.Decision{d}
			all = append(all, c)
		}
	}
	return append(all, s)
}

// earliestMessages is how many messages of its kind a decision is tried on.
const earliestMessages = 3

// wasHit reports whether the operation was in progress when chance decided something.
func wasHit(r *runner.Result, id int) bool {
	i := slices.IndexFunc(r.History, func(o histories.Op) bool { return o.ID == id })
	return i >= 0 && slices.ContainsFunc(r.Events, func(e trace.Event) bool {
		return e.Kind == trace.Chance && r.History[i].CallAt <= e.At &&
			e.At <= r.History[i].ReturnAt
	})
}
