package shrink

import (
	"github.com/shardproof/shardproof/histories/scenario"
)

// smaller goes through all passes once. First whole parts go, with one run each; then the many lines are thinned out, which
// makes every later run short; what is left is simplified.
func (x *search) smaller() (improved bool) {
	note := func(did bool) { improved = improved || did }
	for _, l := range x.lists {
		note(x.each(l.whole))
	}
	note(x.each(x.focus))
	for _, l := range x.lists {
		note(x.thin(l))
	}
	for _, edits := range []func(*scenario.Scenario) []edit{
		newest, topology, collections, firstCome, sooner, simplerFaults, simplerMigrations, simplerCommands, simplerOps, simplerStreams,
		ranges, rounder, times,
	} {
		note(x.each(edits))
	}
	return improved
}

// What a scenario should come down to: with more than that, other seeds are tried.
const (
	fewOps    = 10
	fewFaults = 2
)

// seeds is how many other seeds are tried with each edit.
const seeds = 4

// stubborn tries again what did not work. Where a failure hangs on a narrow moment, whatever is removed moves the moment
// away, and another seed may bring it back; where it hangs on what befell the fourth message of its kind, that has become
// the third.
func (x *search) stubborn() (improved bool) {
	note := func(did bool) { improved = improved || did }
	for _, l := range x.lists {
		if few(x.best) || x.over {
			return improved
		}
		for _, size := range []int{l.count(x.best), l.count(x.best) / 2, l.count(x.best) / 4, 1} {
			note(x.each(func(s *scenario.Scenario) []edit {
				return variants(l.chunks(s, size), append(sooner(s), otherSeeds(s, seeds)...))
			}))
		}
	}
	return improved
}

func few(s *scenario.Scenario) bool {
	return len(s.Ops) <= fewOps && len(s.Faults)+len(s.Decisions) <= fewFaults
}

// variants is every edit that changes something, each time with something else besides.
func variants(edits, besides []edit) (all []edit) {
	for _, e := range edits {
		for _, also := range besides {
			all = append(all, func(s *scenario.Scenario) {
				was := Key(s)
				e(s)
				if Key(s) != was {
					also(s)
				}
			})
		}
	}
	return all
}

// sooner has a decision of chance befall an earlier message of its kind.
func sooner(s *scenario.Scenario) (all []edit) {
	for i, d := range s.Decisions {
		for _, less := range []uint64{1, 2} {
			if d.Occurrence > less {
				all = append(all, func(s *scenario.Scenario) {
					if i < len(s.Decisions) {
						s.Decisions[i].Occurrence = d.Occurrence - less
					}
				})
			}
		}
	}
	return all
}

// otherSeeds gives the scenario one of the next seeds.
func otherSeeds(s *scenario.Scenario, count uint64) (all []edit) {
	for n := uint64(1); n <= count; n++ {
		all = append(all, func(c *scenario.Scenario) { c.Seed = s.Seed + n })
	}
	return all
}
