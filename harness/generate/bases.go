package generate

import (
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/harness/activity"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// Base is a scenario without faults that is made for sweeps.
type Base struct {
	Name, About string
	make        func() *scenario.Scenario
	// script, when set, is the activity whose script the base is, as it stands.
	script *activity.Activity
	// Wanted selects the phases that the sweep is about; nil: all.
	Wanted func(phase string) bool
}

// Bases lists the scenarios that are made for sweeps: some for migrations, then the script of every
// other activity.
func Bases() []Base {
	bases := []Base{
		{Name: "migration", About: "one migration under 40 operations", make: baseMigration},
		{Name: "move-primary", About: "one movePrimary under 40 operations", make: basePrimary},
		{Name: "deletion",
			About:  "the deletion of a range that moved away and comes back, under 40 operations",
			make:   baseDeletion,
			Wanted: func(phase string) bool { return strings.HasPrefix(phase, "deletion ") }},
	}
	for _, a := range activity.All() {
		if !slices.ContainsFunc(bases, func(b Base) bool { return b.Name == a.Name }) {
			bases = append(bases, Base{Name: a.Name, About: a.About, script: a})
		}
	}
	return bases
}

// Scripted reports whether the base is the script of an activity.
func (b *Base) Scripted() bool { return b.script != nil }

// FindBase returns the base of that name, or an error that names the nearest ones.
func FindBase(name string) (Base, error) {
	var names []string
	for _, b := range Bases() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return Base{}, suggest.Unknown("sweep", name, names, "sweeps")
}

// Scenario is the base as a scenario, for the version of the protocol; empty for the newest.
func (b *Base) Scenario(protocol string) *scenario.Scenario {
	if b.Scripted() {
		s := b.script.Scenario(protocol)
		s.Name = "sweep-" + b.Name
		return s
	}
	s := b.make()
	s.Name, s.Planned, s.Protocol = "sweep-"+b.Name, true, protocol
	own := s.Settings
	s.Settings = QuickSettings()
	s.Set(own...)
	s.FaultsEnd, s.Limit = 2*time.Second, quiescenceLimit
	return s
}

func baseOf(c scenario.Collection) *scenario.Scenario {
	z := sweepSize
	s := &scenario.Scenario{Seed: 1, Topology: z.topology, Collections: []scenario.Collection{c}}
	s.Ops = workloads.Draw(keyed.Source(1).IntN, workloads.Params{
		NS:      c.NS,
		Keys:    c.Keys,
		Preload: c.Preload,
		Clients: z.topology.Clients,
		Count:   z.ops,
		Span:    z.span,
		FirstID: 1,
	}, workloads.Standard())
	return s
}

func baseMigration() *scenario.Scenario {
	s := baseOf(scenario.Collection{NS: mainNamespace, Keys: 10, Preload: 7, Bounds: []int64{5}})
	s.Migrations = []scenario.Migration{{
		ID:  1,
		At:  warmUp,
		NS:  mainNamespace,
		Min: 5,
		Max: scenario.MaxKey,
	}}
	return s
}

func basePrimary() *scenario.Scenario {
	s := baseOf(scenario.Collection{NS: unshardedNamespace, Unsharded: true, Keys: 10, Preload: 7})
	s.Primaries = []scenario.MovePrimary{{ID: 1, At: warmUp, Database: "test", To: 1}}
	return s
}

func baseDeletion() *scenario.Scenario {
	s := baseMigration()
	s.Settings = []scenario.Setting{
		{Name: "orphanCleanupDelaySecs", Value: "5ms"}, {Name: "rangeDeleterBatchSize", Value: "1"},
		{Name: "rangeDeleterBatchDelayMS", Value: "5ms"},
	}
	s.Migrations[0].At = warmUp / 5
	back := s.Migrations[0]
	back.ID, back.At, back.To = 2, warmUp, 1
	s.Migrations = append(s.Migrations, back)
	return s
}
