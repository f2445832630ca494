package search

import (
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
)

// newSweep tries single faults at what happens in a base, then pairs of them.
func newSweep(start Start) Strategy {
	return newOnBases(start, "sweep", func(base *scenario.Scenario, o *Outcome) *searchStage {
		p := sweep.New(base, o.InjectionPoints)
		single := func(i int) []int { return []int{p.Spread(i)} }
		return plannedStage(p, start.some(probesEach+singlesEach, len(p.Singles)), single,
			func() *searchStage {
				return plannedStage(p, start.some(pairsEach, min(p.Pairs(), mostPairs)),
					func(i int) []int { return pairOf(p.Pair(i)) }, noStage)
			})
	})
}

func pairOf(first, second int) []int { return []int{first, second} }
