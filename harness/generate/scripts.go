package generate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/activity"
	"github.com/shardproof/shardproof/harness/generate/aimed"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// drawScripts makes a scenario of the scripts of some activities, and adds what other scenarios
// have from the beginning: clients with a mix of operations, more migrations, readers of change
// streams, faults and settings.
func drawScripts(d keyed.Source, seed uint64, p Profile) *scenario.Scenario {
	s := activity.Draw(d.Fork(0xe8), drawProtocol(d, p))
	s.Name, s.Seed = p.Name, seed
	s.Topology.Members = keyed.Pick(d, "members", 1, 3, 3, 3, 5)
	s.Topology.Routers = keyed.Pick(d, "routers", 1, 2, 2)
	addBystanders(d.Fork(0xe9), s)
	moveBeside(d.Fork(0xea), s)
	if d.Chance("streams", streamShare) && len(s.Streams) == 0 {
		s.Streams = workloads.DrawStreams(d.IntN, workloads.StreamParams{
			NS: mainNamespace, Count: 1, Span: activity.Span,
		})
	}
	setSome(d.Fork(0xeb), s)
	disturbScripts(d.Fork(0xec), s)
	z := size{topology: s.Topology, moves: len(s.Migrations), span: activity.Span}
	meetMoves(s, d, z)
	leaveEarly(s, d, z)
	addQuestions(d, s, z)
	cleanUpBesideMoves(d.Fork(0x7b), s)
	vary(d, s, z)
	return s
}

// addBystanders has two more clients work on the collection that all scripts have.
func addBystanders(d keyed.Source, s *scenario.Scenario) {
	count := keyed.Pick(d, "operations", 0, 20, 20, 60)
	if count == 0 {
		return
	}
	mix := workloads.Standard()
	if d.Chance("weak reads", 30) {
		mix = workloads.Weak(mix)
	}
	const clients = 2
	first := s.Topology.Clients
	s.Topology.Clients += clients
	for _, o := range workloads.Draw(d.IntN, workloads.Params{
		NS: mainNamespace, Keys: s.Collections[0].Keys, Preload: s.Collections[0].Preload,
		Clients: clients, Count: count, Span: activity.Span, FirstID: len(s.Ops) + 1,
	}, mix) {
		o.Client += first
		s.Ops = append(s.Ops, o)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// moveBeside adds up to three migrations.
func moveBeside(d keyed.Source, s *scenario.Scenario) {
	const most = 3
	s.Migrations = append(s.Migrations, workloads.DrawMoves(d.IntN, workloads.MoveParams{
		Collection: s.Collections[0],
		Shards:     s.Topology.Shards,
		Count:      d.IntN("migrations", most+1),
		Gap:        activity.Span / most,
		WaitDelete: 20,
		Open:       openMoves(s),
		FirstID:    len(s.Migrations) + 1,
	}, keyed.Choose(d.IntN, "moves", workloads.MoveCatalog(), movesOf))...)
}

// settingShare is how many percent of the settings differ in half of the scenarios of scripts.
const settingShare = 25

// setSome draws some of the settings.
func setSome(d keyed.Source, s *scenario.Scenario) {
	if !d.Chance("settings", 50) {
		return
	}
	for _, k := range slices.Concat(settingKnobs, pieceKnobs, worldKnobs, backgroundFaults) {
		if d.Chance(k.name, settingShare) {
			value := keyed.One(d.IntN, "set/"+k.name, k.values...)
			s.Set(scenario.Setting{Name: k.name, Value: value})
		}
	}
	forgetEarly(d, s)
}

// disturbScripts adds faults of any kind, at any time or aimed.
func disturbScripts(d keyed.Source, s *scenario.Scenario) {
	space := faults.Space{
		Topology:     s.Topology,
		To:           activity.Span,
		Migrations:   len(s.Migrations),
		MovesPrimary: len(s.Primaries) > 0,
		Whole:        s.WholeTimes(),
	}
	behind := 0
	for _, f := range s.Faults {
		behind = max(behind, f.ID)
	}
	all := faults.All()
	for n := range d.IntN("faults", 4) {
		kind := keyed.Choose(d.IntN, fmt.Sprintf("kind/%d", n), all, kindOf)
		s.Faults = append(s.Faults, faults.Plan(kind, behind+n+1, space, d.IntN))
	}
	if d.Chance("aimed", 50) {
		aimed.Add(d, s, activity.Span)
	}
	s.FaultsEnd = max(s.FaultsEnd, activity.Span+longestHalves(s.Faults)+time.Second)
}
