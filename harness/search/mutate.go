package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// A mutation changes a scenario a little; it may find nothing to change. Roll answers every
// question it has.
type mutation struct {
	name   string
	weight int
	change func(s *scenario.Scenario, roll func(question string, n int) int)
}

var allMutations = []mutation{
	{"add a fault", 5, addFault},
	{"anchor a fault elsewhere", 3, moveFault},
	{"aim a fault at something else", 2, retargetFault},
	{"drop a fault", 2, dropFault},
	{"shift a migration", 3, shiftMigration},
	{"change a setting", 2, changeSetting},
	{"another seed", 1, changeSeed},
}

// mutateScenario makes a few changes to a copy of the scenario.
func mutateScenario(
	of *scenario.Scenario, roll func(question string, n int) int,
) *scenario.Scenario {
	s := of.Clone()
	weight := func(m mutation) (string, int) { return m.name, m.weight }
	for i := range 1 + roll("changes", 3) {
		own := func(question string, n int) int {
			return roll(fmt.Sprintf("%d/%s", i, question), n)
		}
		keyed.Choose(own, "mutation", allMutations, weight).change(s, own)
	}
	return s
}

// mostFaults is how many a scenario may get.
const mostFaults = 16

// spaceOf is what faults of a scenario are drawn for.
func spaceOf(s *scenario.Scenario) faults.Space {
	splits := func(c scenario.Command) bool {
		return c.Do == commandkind.SplitChunk || c.Do == commandkind.MergeChunks
	}
	return faults.Space{
		Topology:     s.Topology,
		To:           s.FaultsEnd,
		Migrations:   len(s.Migrations),
		MovesPrimary: len(s.Primaries) > 0,
		Splits:       slices.ContainsFunc(s.Commands, splits),
		Whole:        s.WholeTimes(),
	}
}

func drawFault(s *scenario.Scenario, kind *faults.Kind, roll func(string, int) int) scenario.Fault {
	id := 1
	for _, f := range s.Faults {
		id = max(id, f.ID+1)
	}
	f := faults.Plan(kind, 1, spaceOf(s), roll)
	f.ID = id
	return f
}

func addFault(s *scenario.Scenario, roll func(string, int) int) {
	if len(s.Faults) < mostFaults {
		s.Faults = append(s.Faults, drawFault(s, chooseKind(roll), roll))
	}
}

// chooseKind is any kind of fault.
func chooseKind(roll func(string, int) int) *faults.Kind {
	return keyed.Choose(roll, "kind", faults.All(), func(k *faults.Kind) (string, int) {
		return k.Name, 1
	})
}

// pickFault is one of the scenario's faults and another of its kind; nil without any.
func pickFault(
	s *scenario.Scenario, roll func(string, int) int,
) (f *scenario.Fault, fresh scenario.Fault) {
	if len(s.Faults) == 0 {
		return nil, fresh
	}
	f = &s.Faults[roll("fault", len(s.Faults))]
	kind, err := faults.Find(f.Kind)
	if err != nil {
		panic(err)
	}
	return f, drawFault(s, kind, roll)
}

func moveFault(s *scenario.Scenario, roll func(string, int) int) {
	f, fresh := pickFault(s, roll)
	switch {
	case f == nil:
	case f.When.Site != "" && roll("pass only", 2) == 0:
		f.When.Nth = 1 + roll("pass", f.When.Nth+2)
	default:
		f.When, f.For, f.Until = fresh.When, fresh.For, fresh.Until
	}
}

func retargetFault(s *scenario.Scenario, roll func(string, int) int) {
	if f, fresh := pickFault(s, roll); f != nil {
		f.Target, f.Args = fresh.Target, fresh.Args
	}
}

func dropFault(s *scenario.Scenario, roll func(string, int) int) {
	if n := len(s.Faults); n > 0 {
		i := roll("fault", n)
		s.Faults = slices.Delete(s.Faults, i, i+1)
	}
}

func shiftMigration(s *scenario.Scenario, roll func(string, int) int) {
	if n := len(s.Migrations); n > 0 {
		m := &s.Migrations[roll("migration", n)]
		m.At = max(0, m.At+time.Duration(roll("by", 200)-100)*time.Millisecond)
	}
}

func changeSetting(s *scenario.Scenario, roll func(string, int) int) {
	s.Set(generate.DrawSetting(roll))
}

func changeSeed(s *scenario.Scenario, roll func(string, int) int) {
	s.Seed = uint64(roll("seed", 1<<30))
}

// spliceFaults gives the first scenario some of the faults of the second. Whom a fault names must
// be in the cluster of the first; whether it is shows when the scenario is validated.
func spliceFaults(a, b *scenario.Scenario, roll func(string, int) int) *scenario.Scenario {
	s := a.Clone()
	for i, f := range b.Clone().Faults {
		if len(s.Faults) < mostFaults && roll(fmt.Sprintf("fault %d", i), 2) == 0 {
			f.ID = 1
			for _, other := range s.Faults {
				f.ID = max(f.ID, other.ID+1)
			}
			s.Faults = append(s.Faults, f)
		}
	}
	return s
}
