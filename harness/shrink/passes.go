package shrink

import (
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// smaller makes the scenario as small as it can, and then plain. What makes runs short comes first,
// since the many runs that follow profit from it; what only makes lines plainer comes last, when
// few lines are left.
func (x *search) smaller() (improved bool) {
	for x.shorter() || x.rebuild(0) || x.stubborn() {
		improved = true
	}
	return x.plainer() || improved
}

// shorter takes away what it can: whole parts, with one run each; nodes, and time in which nothing
// happens; then lines, many at a time before few.
func (x *search) shorter() (improved bool) {
	note := func(did bool) { improved = improved || did }
	for _, l := range x.lists {
		note(x.each(l.whole))
	}
	note(x.each(x.focus))
	for _, share := range []int{4, 16} {
		note(x.frame())
		for _, l := range x.lists {
			note(x.thin(l, l.count(x.best)/share))
		}
	}
	note(x.frame())
	for _, l := range x.lists {
		note(x.thin(l, 1))
	}
	return improved
}

// frame makes the cluster small, the schedule plain and the span of time short.
func (x *search) frame() (improved bool) {
	for _, edits := range []func(*scenario.Scenario) []edit{
		smallerCluster, earlierTogether, firstCome,
	} {
		improved = x.each(edits) || improved
	}
	return improved
}

// bold takes large steps, each with other seeds.
func (x *search) bold() bool {
	reseeded := func(s *scenario.Scenario) []edit { return otherSeeds(s, seedsEach) }
	framed := x.each(func(s *scenario.Scenario) []edit {
		return editPairs(tinyCluster(s), reseeded(s))
	})
	return x.once(reseeded, 4) || framed
}

// plainer simplifies what is left.
func (x *search) plainer() (improved bool) {
	for _, edits := range []func(*scenario.Scenario) []edit{
		newestProtocol, smallerCollections, earlierDecisions, simplerFaults, simplerMigrations,
		simplerCommands, simplerOps, simplerStreams, widerRanges, rounderSettings, earlierEach,
	} {
		improved = x.each(edits) || improved
	}
	return improved
}

// rebuild goes on with the first rebuilt scenario that fails too. That is tried once, when so many
// trials were made and much is left.
func (x *search) rebuild(after int) bool {
	if x.Rebuild == nil || x.rebuiltOnce || x.asked < after || isSmall(x.best) {
		return false
	}
	x.rebuiltOnce = true
	enough := x.asked + mostRebuilt
	for group := range x.Rebuild(x.best) {
		var all []edit
		for _, other := range group {
			all = append(all, func(s *scenario.Scenario) { *s = *other.Clone() })
		}
		if x.first(all) >= 0 {
			return true
		}
		if x.over || x.asked >= enough {
			break
		}
	}
	return false
}

// mostRebuilt is after how many rebuilt scenarios, or few more, it goes on with the one that it
// has.
const mostRebuilt = 2500

// What a scenario should come down to: with more than that, everything is tried again with
// something else besides.
const (
	fewOps    = 10
	fewFaults = 2
)

// stubborn tries again what did not work, and ends with the first thing that does. Where a failure
// hangs on a narrow moment, whatever is removed moves the moment away, and another seed may bring
// it back, or a later start of what follows; where it hangs on what hit the fourth message of its
// kind, that has become the third; where it takes many lines to fill a buffer, a smaller buffer
// takes fewer.
func (x *search) stubborn() bool {
	if isSmall(x.best) {
		return false
	}
	if x.bold() {
		return true
	}
	for _, besides := range []func(s *scenario.Scenario) []edit{
		func(s *scenario.Scenario) []edit { return otherSeeds(s, seedsEach) },
		func(s *scenario.Scenario) []edit {
			return slices.Concat(earlierDecisions(s), laterOps(s), otherSettings(s))
		},
		func(s *scenario.Scenario) []edit {
			return slices.Concat(otherFaults(s),
				otherSeeds(s, 4*seedsEach))
		},
	} {
		if x.once(besides, math.MaxInt) {
			return true
		}
	}
	return false
}

// seedsEach is how many other seeds are tried with each edit.
const seedsEach = 4

// once takes lines away, of each list that share of it or more at a time, with one of some edits
// besides.
func (x *search) once(besides func(s *scenario.Scenario) []edit, share int) (improved bool) {
	for _, l := range x.lists {
		count := l.count(x.best)
		for size := count; size > 0 && size >= count/share; size /= 2 {
			if isSmall(x.best) || x.over {
				return improved
			}
			if x.each(func(s *scenario.Scenario) []edit {
				return editPairs(l.chunks(s, size),
					besides(s))
			}) {
				improved = true
			}
		}
	}
	return improved
}

func isSmall(s *scenario.Scenario) bool {
	return len(s.Ops) <= fewOps && len(s.Faults)+len(s.Decisions) <= fewFaults
}

// editPairs is every edit that changes something, each time with something else besides, which is
// done first: then all lines are still where it expects them.
func editPairs(edits, besides []edit) (all []edit) {
	for _, e := range edits {
		for _, also := range besides {
			all = append(all, func(s *scenario.Scenario) {
				before := s.Clone()
				also(s)
				was := Key(s)
				if e(s); Key(s) == was {
					*s = *before
				}
			})
		}
	}
	return all
}

// earlierDecisions has a decision of chance hit an earlier message of its kind.
func earlierDecisions(s *scenario.Scenario) (all []edit) {
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

// laterOps has every operation from one on start later.
func laterOps(s *scenario.Scenario) (all []edit) {
	for i := 0; i < len(s.Ops); i += max(len(s.Ops)/4, 1) {
		for _, by := range []time.Duration{
			time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond,
		} {
			all = append(all, func(s *scenario.Scenario) {
				for n := i; n < len(s.Ops); n++ {
					s.Ops[n].At += by
				}
			})
		}
	}
	return all
}

// otherSettings halves and doubles values.
func otherSettings(s *scenario.Scenario) (all []edit) {
	for i, v := range s.Settings {
		for _, f := range settingFreedoms(i, v) {
			all = append(all, f.edits...)
		}
	}
	return all
}

// otherFaults has faults strike at other passes, and last for longer or not as long.
func otherFaults(s *scenario.Scenario) (all []edit) {
	for i, f := range s.Faults {
		for _, g := range faultFreedoms(i, f) {
			all = append(all, g.edits...)
		}
		for less := 2; less < min(f.When.Nth, 5); less++ {
			all = append(all, func(s *scenario.Scenario) { s.Faults[i].When.Nth -= less })
		}
	}
	return all
}
