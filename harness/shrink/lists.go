package shrink

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// list is a part of a scenario that is made of lines.
type list struct {
	count  func(*scenario.Scenario) int
	remove func(s *scenario.Scenario, from, to int)
}

func listOf[T any](in func(*scenario.Scenario) *[]T) list {
	return list{
		count: func(s *scenario.Scenario) int { return len(*in(s)) },
		remove: func(s *scenario.Scenario, from, to int) {
			*in(s) = slices.Delete(*in(s), from, to)
		},
	}
}

// allLists are in the order in which they are thinned out: what costs most time, or confuses most,
// first. Settings come last.
var allLists = []list{
	listOf(func(s *scenario.Scenario) *[]scenario.Decision { return &s.Decisions }),
	listOf(func(s *scenario.Scenario) *[]scenario.Stream { return &s.Streams }),
	listOf(func(s *scenario.Scenario) *[]scenario.Command { return &s.Commands }),
	listOf(func(s *scenario.Scenario) *[]scenario.MovePrimary { return &s.Primaries }),
	faultList,
	listOf(func(s *scenario.Scenario) *[]scenario.Migration { return &s.Migrations }),
	opList,
}

var (
	faultList = listOf(func(s *scenario.Scenario) *[]scenario.Fault { return &s.Faults })
	opList    = listOf(func(s *scenario.Scenario) *[]scenario.Op { return &s.Ops })
)

// whole removes the list altogether.
func (l list) whole(s *scenario.Scenario) []edit { return l.chunks(s, l.count(s)) }

// chunks removes size lines that stand together, the last ones first: a failure is more often
// explained by what was before.
func (l list) chunks(s *scenario.Scenario, size int) []edit {
	var all []edit
	for to := l.count(s); to > 0 && size > 0; to -= size {
		from := max(to-size, 0)
		all = append(all, func(s *scenario.Scenario) { l.remove(s, from, to) })
	}
	return all
}

// rebuildAfter is after how many trials more is expected of rebuilt scenarios than of taking lines
// away.
const rebuildAfter = 300

// thin removes as many lines as it can, in ever smaller chunks, the last of which have least lines
// or more.
func (x *search) thin(l list, least int) (improved bool) {
	for size := l.count(x.best); size >= max(least, 1) && !x.over; size /= 2 {
		if x.rebuild(rebuildAfter) {
			return true
		}
		if x.each(func(s *scenario.Scenario) []edit { return l.chunks(s, size) }) {
			improved = true
		}
	}
	return improved
}

// focus keeps only what surrounds the operations that prove the failure: these alone, those on
// their keys, and what began before the last of them.
func (x *search) focus(*scenario.Scenario) []edit {
	proof := func(o scenario.Op) bool { return slices.Contains(x.report.Ops, o.ID) }
	keys := make(map[int64]bool)
	var last time.Duration
	for _, o := range x.best.Ops {
		if proof(o) {
			keys[o.Key] = true
			last = max(last, o.At)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	keep := func(wanted func(scenario.Op) bool) edit {
		return func(s *scenario.Scenario) {
			s.Ops = slices.DeleteFunc(s.Ops, func(o scenario.Op) bool { return !wanted(o) })
		}
	}
	return []edit{
		keep(proof),
		keep(func(o scenario.Op) bool { return keys[o.Key] }),
		func(s *scenario.Scenario) { dropLater(s, last) },
	}
}

// dropLater leaves out whatever starts later.
func dropLater(s *scenario.Scenario, last time.Duration) {
	s.Ops = slices.DeleteFunc(s.Ops, func(o scenario.Op) bool { return o.At > last })
	s.Migrations = slices.DeleteFunc(s.Migrations, func(m scenario.Migration) bool {
		return m.At > last
	})
	s.Faults = slices.DeleteFunc(s.Faults, func(f scenario.Fault) bool { return f.When.At > last })
}
