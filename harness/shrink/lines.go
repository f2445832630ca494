package shrink

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// simplerFaults gives faults the least that they need: no arguments but defaults, no end of their
// own, the first pass.
func simplerFaults(s *scenario.Scenario) (all []edit) {
	for i := range s.Faults {
		change := func(do func(f *scenario.Fault)) {
			all = append(all, func(s *scenario.Scenario) { do(&s.Faults[i]) })
		}
		for j := range s.Faults[i].Args {
			change(func(f *scenario.Fault) { f.Args = slices.Delete(f.Args, j, j+1) })
		}
		change(func(f *scenario.Fault) { f.Until = nil })
		change(func(f *scenario.Fault) { f.For = 0 })
		change(func(f *scenario.Fault) {
			f.For = min(f.For, f.For.Truncate(100*time.Millisecond)+100*time.Millisecond)
		})
		change(func(f *scenario.Fault) { f.When.After = 0 })
		change(func(f *scenario.Fault) { f.When.Node = "" })
		for nth := 1; nth < min(s.Faults[i].When.Nth, 4); nth++ {
			change(func(f *scenario.Fault) { f.When.Nth = min(f.When.Nth, nth) })
		}
	}
	return all
}

// simplerMigrations takes the options of migrations away.
func simplerMigrations(s *scenario.Scenario) (all []edit) {
	for i := range s.Migrations {
		for _, do := range []func(m *scenario.Migration){
			func(m *scenario.Migration) { m.WaitDelete = false },
			func(m *scenario.Migration) { m.Open = "" },
			func(m *scenario.Migration) { m.ForceJumbo = "" },
			func(m *scenario.Migration) { m.Throttle = "" },
		} {
			all = append(all, func(s *scenario.Scenario) { do(&s.Migrations[i]) })
		}
	}
	return all
}

// simplerCommands takes the fields of documents away that operators write, and switches the
// balancer off.
func simplerCommands(s *scenario.Scenario) (all []edit) {
	for i := range s.Commands {
		for n := range s.Commands[i].Fields {
			all = append(all, func(s *scenario.Scenario) {
				if fields := s.Commands[i].Fields; n < len(fields) {
					s.Commands[i].Fields = slices.Delete(fields, n, n+1)
				}
			})
		}
	}
	return append(all, func(s *scenario.Scenario) { s.Balancer = false })
}

// simplerOps takes the options of operations away.
func simplerOps(s *scenario.Scenario) (all []edit) {
	for i := range s.Ops {
		for _, do := range []func(o *scenario.Op){
			func(o *scenario.Op) { o.Prefer, o.Concern, o.Causal, o.Age = "", "", false, 0 },
			func(o *scenario.Op) { o.Age = 0 },
			func(o *scenario.Op) { o.Rest = 0 },
			func(o *scenario.Op) { o.Prefer, o.Causal = "", false },
			func(o *scenario.Op) { o.Causal = false },
			func(o *scenario.Op) { o.Batched, o.Together = false, false },
			func(o *scenario.Op) { o.W, o.WTimeout = 0, 0 },
			func(o *scenario.Op) { o.WTimeout = 0 },
			func(o *scenario.Op) { o.Prefer = "" },
			func(o *scenario.Op) { o.Concern, o.Age = "", 0 },
			func(o *scenario.Op) { o.Client = 0 },
		} {
			all = append(all, func(s *scenario.Scenario) { do(&s.Ops[i]) })
		}
	}
	return all
}

// simplerStreams takes the options of readers away.
func simplerStreams(s *scenario.Scenario) (all []edit) {
	for i := range s.Streams {
		for _, of := range []func(w *scenario.Stream) *int{
			func(w *scenario.Stream) *int { return &w.Batch },
			func(w *scenario.Stream) *int { return &w.Resume },
			func(w *scenario.Stream) *int { return &w.Back },
		} {
			all = append(all, func(s *scenario.Scenario) { *of(&s.Streams[i]) = 0 })
		}
	}
	return all
}

// coarseUnits are the units to which times are cut, the simplest first.
var coarseUnits = []time.Duration{
	time.Hour, 100 * time.Millisecond, 10 * time.Millisecond, 5 * time.Millisecond,
}

// earlierTogether has everything start early and at round times, all at once, and the faults end
// early.
func earlierTogether(*scenario.Scenario) (all []edit) {
	for _, unit := range coarseUnits {
		all = append(all, func(s *scenario.Scenario) {
			for _, at := range startTimes(s) {
				*at = at.Truncate(unit)
			}
		})
	}
	for _, end := range []time.Duration{0, 100 * time.Millisecond, time.Second} {
		all = append(all, func(s *scenario.Scenario) {
			s.FaultsEnd = min(s.FaultsEnd, latestStart(s)+end)
		})
	}
	return all
}

// earlierEach has everything start early and at round times, one by one.
func earlierEach(s *scenario.Scenario) (all []edit) {
	for i := range startTimes(s) {
		for _, unit := range coarseUnits {
			all = append(all, func(s *scenario.Scenario) {
				at := startTimes(s)[i]
				*at = at.Truncate(unit)
			})
		}
	}
	return append(all, earlierTogether(s)...)
}

// startTimes are all times at which something starts.
func startTimes(s *scenario.Scenario) (all []*time.Duration) {
	for i := range s.Migrations {
		all = append(all, &s.Migrations[i].At)
	}
	for i := range s.Primaries {
		all = append(all, &s.Primaries[i].At)
	}
	for i := range s.Ops {
		all = append(all, &s.Ops[i].At)
	}
	for i := range s.Commands {
		all = append(all, &s.Commands[i].At)
	}
	for i := range s.Streams {
		all = append(all, &s.Streams[i].At)
	}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.When.Site == "" {
			all = append(all, &f.When.At)
		}
	}
	return all
}

func latestStart(s *scenario.Scenario) (last time.Duration) {
	for _, at := range startTimes(s) {
		last = max(last, *at)
	}
	return last
}
