// Package shrink makes a failing scenario smaller while it keeps failing in the same way: fewer
// clients, operations, migrations, faults and decisions of chance, a smaller cluster, ordinary
// settings, round times, and a schedule that is first come, first served. When much stays for long,
// it rebuilds a scenario from what surrounds the failure and goes on with the first that fails in
// the same way. What does not come off alone is then tried with other seeds, starts, values and
// passes besides. At last it says of what is left which parts do not matter.
//
// Promise: the outcome depends on the scenario and on the budget, not on how many trials run at a
// time; every scenario that it reports as the smallest so far has failed with the signature of the
// original and broken no other promise. Trials can be remembered, so that a search which was
// interrupted goes on where it was.
//
// Refusal: it keeps no files and looks at no clock.
package shrink

import (
	"hash/fnv"
	"iter"
	"slices"

	"github.com/shardproof/shardproof/harness/parallel"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Trial is what came of running a candidate.
type Trial struct {
	// Same is true when it fails as the original does.
	Same bool
	// Ops are the operations that prove the failure, or may have to do with it.
	Ops []int
}

// searchOptions say how to search.
type searchOptions struct {
	// Try runs a candidate; worker counts from 0 to Workers-1. A candidate that cannot be run is
	// not the same.
	Try     func(worker int, s *scenario.Scenario) Trial
	Workers int
	// Runs is the budget: how many candidates are tried at most.
	Runs int
	// Alternatives are scenarios that are better to go on with, should one of them be the same.
	Alternatives []*scenario.Scenario
	// Rebuild, when set, makes scenarios that may fail as s does, some at a time, and are much
	// smaller. It is asked once, if much is left after 300 trials or when no line comes off.
	Rebuild func(s *scenario.Scenario) iter.Seq[[]*scenario.Scenario]
	// Fixed, when set, says which settings must stay.
	Fixed func(setting string) bool
	// Stop, when set, ends the search early when it is true.
	Stop func() bool
	// Known are trials that have been made before, by the candidate's Key. Learned is given every
	// new one, Smaller of every scenario that is smaller than all before; both may be nil.
	Known   map[uint64]Trial
	Learned func(key uint64, t Trial)
	Smaller func(s *scenario.Scenario, runs int)
}

// Result is the smallest scenario that was found.
type Result struct {
	Scenario *scenario.Scenario
	// Labels say which of its lines may be different.
	Labels []Label
	// Runs is how many candidates were tried.
	Runs int
	// Complete is true when nothing was left to try: not so when the budget was spent or the search
	// stopped.
	Complete bool
}

// Key identifies a candidate.
func Key(s *scenario.Scenario) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.String()))
	return h.Sum64()
}

// searchFrom looks for the smallest scenario that fails as s does; said is what a trial of s has
// said.
func searchFrom(s *scenario.Scenario, said Trial, o searchOptions) *Result {
	x := &search{
		searchOptions: o,
		best:          s.Clone(),
		report:        said,
		known:         make(map[uint64]Trial),
		seen:          make(map[uint64]bool),
	}
	for key, t := range o.Known {
		x.known[key] = t
	}
	x.lists = append(slices.Clone(allLists), x.settings())
	x.known[Key(s)], x.seen[Key(s)] = said, true
	x.alternatives()
	for x.smaller() {
	}
	labels := x.labels()
	return &Result{Scenario: x.best, Labels: labels, Runs: x.runs, Complete: !x.over}
}

// alternatives goes on with the first of the other scenarios, with their seeds or others, that is
// the same.
func (x *search) alternatives() {
	var all []edit
	for _, other := range x.Alternatives {
		for _, reseed := range append(
			[]edit{func(*scenario.Scenario) {}}, otherSeeds(other, 2*seedsEach)...,
		) {
			all = append(all, func(s *scenario.Scenario) {
				*s = *other.Clone()
				reseed(s)
			})
		}
	}
	x.first(all)
}

// search is a search in progress.
type search struct {
	searchOptions
	lists  []list
	best   *scenario.Scenario
	report Trial // of best
	known  map[uint64]Trial
	// seen are the scenarios that were the smallest once: there is no way back.
	seen map[uint64]bool
	// runs are the trials that were made, asked those that were made or known.
	runs, asked int
	// rebuiltOnce is set when scenarios were rebuilt.
	rebuiltOnce bool
	// over is set when no more may be tried.
	over bool
}

// edit changes a scenario, which is its own to change.
type edit func(*scenario.Scenario)

// candidate is an edited scenario before and after its trial.
type candidate struct {
	scenario *scenario.Scenario
	key      uint64
	trial    Trial
	known    bool
}

func (x *search) candidate(e edit) candidate {
	c := candidate{scenario: x.best.Clone()}
	e(c.scenario)
	c.key = Key(c.scenario)
	c.trial, c.known = x.known[c.key]
	return c
}

// candidatesEachRound is how many candidates are made at a time.
const candidatesEachRound = 24

// each takes every edit of the smallest so far, in turn, with which it still fails. The edits are
// listed again after each that was taken, and the search goes on at its place in the list.
func (x *search) each(edits func(*scenario.Scenario) []edit) (improved bool) {
	for from := 0; !x.over; {
		all := edits(x.best)
		i := x.first(all[min(from, len(all)):])
		if i < 0 {
			break
		}
		improved = true
		from += i
	}
	return improved
}

// first takes the first of the edits with which the scenario still fails, and returns its place; -1
// for none.
func (x *search) first(edits []edit) int {
	for from := 0; from < len(edits) && !x.over; from += candidatesEachRound {
		some := edits[from:min(from+candidatesEachRound, len(edits))]
		taken := -1
		x.try(some, func(i int, c candidate) bool {
			if c.trial.Same && !x.seen[c.key] {
				taken = i
				x.best, x.report, x.seen[c.key] = c.scenario, c.trial, true
				if x.Smaller != nil {
					x.Smaller(c.scenario, x.runs)
				}
			}
			return taken < 0
		})
		if taken >= 0 {
			return from + taken
		}
	}
	return -1
}

// try runs the candidates that the edits make, as far as they are not known, and hands them on in
// order.
func (x *search) try(edits []edit, take func(i int, c candidate) (more bool)) {
	all := make([]candidate, len(edits))
	for i, e := range edits {
		all[i] = x.candidate(e)
	}
	n := parallel.Do(x.Workers, len(all), x.Stop, func(worker, i int) candidate {
		c := all[i]
		if !c.known {
			c.trial = x.Try(worker, c.scenario)
		}
		return c
	}, func(i int, c candidate) bool {
		return x.learn(c) && take(i, c)
	})
	if n < len(all) && x.Stop != nil && x.Stop() {
		x.over = true
	}
}

// learn remembers a trial. It returns false when the budget does not allow it any more.
func (x *search) learn(c candidate) bool {
	x.asked++
	if _, twice := x.known[c.key]; twice {
		return true
	}
	if x.runs >= x.Runs {
		x.over = true
		return false
	}
	x.runs++
	x.known[c.key] = c.trial
	if x.Learned != nil {
		x.Learned(c.key, c.trial)
	}
	return true
}
