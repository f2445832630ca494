package search

import (
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
)

// newAnchored holds things back. A base has three stages: probes, which hold one thing back to the
// end and find out what does not wait for it; singles, which let it go when one of these has
// happened; and pairs of these, those of the commit window first.
func newAnchored(start Start) Strategy {
	return newOnBases(start, "reorder", func(base *scenario.Scenario, o *Outcome) *searchStage {
		a := &anchored{Start: start, base: base, anchors: sweep.Anchors(o.InjectionPoints)}
		a.anchors = a.anchors[:start.some(probesEach, len(a.anchors))]
		a.until = make([][]sweep.FaultCase, len(a.anchors))
		return a.probes()
	})
}

// anchored is the search on one base.
type anchored struct {
	Start
	base    *scenario.Scenario
	anchors []sweep.Anchor
	until   [][]sweep.FaultCase // of each anchor
}

func (a *anchored) probes() *searchStage {
	p := &sweep.Plan{Base: a.base}
	for i := range a.anchors {
		p.Singles = append(p.Singles, a.anchors[i].FaultCase)
	}
	return &searchStage{
		count: len(a.anchors),
		next:  a.singles,
		trial: func(i int) Trial { return Trial{Scenario: p.Scenario(i), Watched: true} },
		learn: func(i int, o *Outcome) {
			a.until[i] = sweep.SpreadOut(a.anchors[i].Until(o.InjectionPoints))
		},
	}
}

func (a *anchored) singles() *searchStage {
	p := &sweep.Plan{Base: a.base, Singles: sweep.InTurn(a.until)}
	return plannedStage(p, a.some(singlesEach, len(p.Singles)), func(i int) []int {
		return []int{i}
	}, func() *searchStage {
		return plannedStage(p, a.some(pairsEach, min(p.Pairs(), mostPairs)), func(i int) []int {
			return pairOf(sweep.FirstPairs(i))
		}, noStage)
	})
}

// mostPairs is how many pairs of one base are tried at most: all are more than anybody has time
// for.
const mostPairs = 20_000
