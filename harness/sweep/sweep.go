// Package sweep tries what random seeds leave to luck: from everything that happened in one run
// without faults, every single fault that could have hit it, at every passage of a failpoint, every
// message and every durable write, once; and pairs.
//
// Promise: a plan is a pure function of the scenario and of what happened; its numbers never change
// their meaning, so that a sweep which was interrupted goes on behind the last of them, with any
// number of workers. Pairs are numbered so that every beginning of them is spread evenly over all.
//
// Refusal: it keeps no files; where a sweep stands is for the command line to remember.
package sweep

import (
	"math/bits"
	"sort"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
)

// FaultCase is one fault at one injection point.
type FaultCase struct {
	// Kind is the sort of fault, Phase when it happens, and Actor whom it hits.
	Kind, Phase, Actor string
	// Fault, or else the Decisions, are its lines in a scenario.
	Fault     *scenario.Fault
	Decisions []scenario.Decision
}

// String is the fault in one line.
func (s *FaultCase) String() string {
	if s.Fault != nil {
		return s.Fault.String()
	}
	return s.Decisions[0].String()
}

// Plan is everything that a sweep of one scenario tries.
type Plan struct {
	Base    *scenario.Scenario
	Singles []FaultCase
}

// New plans the sweep of a scenario whose run had these injection points.
func New(base *scenario.Scenario, points []runner.InjectionPoint) *Plan {
	p := &Plan{Base: base}
	for i := range points {
		p.Singles = append(p.Singles, casesAt(&points[i])...)
	}
	return p
}

// Scenario is the base with the given singles in it.
func (p *Plan) Scenario(singles ...int) *scenario.Scenario {
	some := make([]FaultCase, len(singles))
	for i, n := range singles {
		some[i] = p.Singles[n]
	}
	s := With(p.Base, some...)
	s.Planned = true
	return s
}

// With is a scenario with some more faults behind those that it has.
func With(base *scenario.Scenario, more ...FaultCase) *scenario.Scenario {
	s := base.Clone()
	for _, one := range more {
		s.Decisions = append(s.Decisions, one.Decisions...)
		if one.Fault != nil {
			f := *one.Fault
			for _, other := range s.Faults {
				f.ID = max(f.ID, other.ID+1)
			}
			s.Faults = append(s.Faults, f)
		}
	}
	return s
}

// Pairs is how many pairs of different singles there are.
func (p *Plan) Pairs() int { n := len(p.Singles); return n * (n - 1) / 2 }

// Pair is the pair with that number, from 0 to Pairs()-1. Numbers that follow each other are far
// apart: they go through all pairs with a stride near the golden section, which leaves no gap
// larger than need be wherever it stops.
func (p *Plan) Pair(number int) (first, second int) {
	total := uint64(p.Pairs())
	high, low := bits.Mul64(uint64(number), goldenStride(total))
	_, at := bits.Div64(high%total, low, total)
	// Row n holds the pairs (0, n) to (n-1, n), behind the n(n-1)/2 of the rows before.
	return FirstPairs(int(at))
}

// Spread is the single with that place in an order of which every beginning is spread over the
// whole run.
func (p *Plan) Spread(place int) int { return Scatter(place, len(p.Singles)) }

// FirstPairs is the pair with that number when the singles that come first are tried with each
// other first.
func FirstPairs(number int) (first, second int) {
	const most = 1 << 31 // whose square is still a number
	second = sort.Search(min(number+1, most), func(n int) bool { return n*(n+1)/2 > number })
	return number - second*(second-1)/2, second
}

// goldenStride is the number next to the golden section of total that has no factor in common with
// it.
func goldenStride(total uint64) uint64 {
	const golden = 11400714819323198485 // of 2^64
	s, _ := bits.Mul64(total, golden)
	for s = max(s, 1); commonDivisor(s, total) != 1; s++ {
	}
	return s
}

func commonDivisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
