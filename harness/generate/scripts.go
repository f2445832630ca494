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

const (
	// beginWithin is when the last script of a drawn scenario begins at the latest.
	beginWithin = 250 * time.Millisecond
	// scriptSpan is how long all its scripts take together.
	scriptSpan = beginWithin + 300*time.Millisecond
)

// drawScripts makes a scenario of the scripts of some activities, and adds what other scenarios
// have from the beginning: clients with a mix of operations, more migrations, readers of change
// streams, faults and settings.
func drawScripts(d keyed.Source, seed uint64, p Profile) *scenario.Scenario {
	s := layScripts(d.Fork(0xe8), drawProtocol(d, p))
	s.Name, s.Seed = p.Name, seed
	s.Topology.Members = keyed.Pick(d, "members", 1, 3, 3, 3, 5)
	s.Topology.Routers = keyed.Pick(d, "routers", 1, 2, 2)
	addBystanders(d.Fork(0xe9), s)
	moveBeside(d.Fork(0xea), s)
	if d.Chance("streams", streamShare) && len(s.Streams) == 0 {
		s.Streams = workloads.DrawStreams(d.IntN, workloads.StreamParams{
			NS: mainNamespace, Count: 1, Span: scriptSpan,
		})
	}
	setSome(d.Fork(0xeb), s)
	disturbScripts(d.Fork(0xec), s)
	z := size{topology: s.Topology, moves: len(s.Migrations), span: scriptSpan}
	meetMoves(s, d, z)
	leaveEarly(s, d, z)
	addQuestions(d, s, z)
	cleanUpBesideMoves(d.Fork(0x7b), s)
	vary(d, s, z)
	aimed.IsolateShards(d.Fork(0xf3), s)
	shareKeys(d.Fork(0xff), s)
	return s
}

// layScripts lays the scripts of up to four activities over each other, each begun at a time of
// its own, and adds faults at their sites. There are fewer when one is drawn more than once.
func layScripts(d keyed.Source, protocol string) *scenario.Scenario {
	var some []activity.Start
	for n := range keyed.Pick(d, "activities", 2, 2, 3, 4) {
		a := activity.All()[d.IntN(fmt.Sprintf("activity/%d", n), len(activity.All()))]
		if !slices.ContainsFunc(some, func(s activity.Start) bool { return s.Activity == a }) {
			some = append(some, activity.Start{Activity: a})
		}
	}
	for n := range some[1:] {
		at := d.IntN(fmt.Sprintf("begins/%d", n), int(beginWithin/time.Millisecond))
		some[n+1].At = time.Duration(at) * time.Millisecond
	}
	s := activity.Overlay(protocol, some[0].Activity, some[1:]...)
	s.Planned = false
	s.Topology.Clients = len(some) * activity.Clients
	for i := range s.Ops {
		s.Ops[i].ID = i + 1 // 4.2 leaves some out
	}
	for n := range d.IntN("faults", 4) {
		own := d.Fork(uint64(n))
		s.AddFaults(atSite(own, some[own.IntN("whose", len(some))].Activity))
	}
	for n := range d.IntN("holds", 4) {
		own := d.Fork(uint64(0x100 + n))
		s.AddFaults(holdUntil(own, some[own.IntN("whose", len(some))].Activity,
			some[own.IntN("until whose", len(some))].Activity))
	}
	return s
}

// longestHold is how long something stands still at most until what it waits for has come.
const longestHold = 1500 * time.Millisecond

// holdUntil has one activity stand still at one of the first passes of one of its sites until
// another has passed one of its own: a race sweep tries all of them, one at a time.
func holdUntil(own keyed.Source, a, other *activity.Activity) scenario.Fault {
	sites, events := a.Sites(), other.Sites()
	return scenario.Fault{
		Kind: "pause", For: longestHold,
		When: scenario.Trigger{
			Site: sites[own.IntN("site", len(sites))],
			Nth:  keyed.Pick(own, "pass", 1, 1, 2, 3, 5),
		},
		Until: &scenario.Trigger{
			Site: events[own.IntN("event", len(events))],
			Nth:  keyed.Pick(own, "event pass", 1, 1, 1, 2),
		},
	}
}

// faultsAtSites are the faults that happen where a site is passed: whether they last, and whether
// they hit a primary instead of the task that passes.
var faultsAtSites = []struct {
	kind           string
	lasts, targets bool
}{
	{kind: "pause", lasts: true}, {kind: "pause", lasts: true}, {kind: "error"},
	{kind: "kill-operation"}, {kind: "crash", lasts: true, targets: true},
	{kind: "partition", lasts: true, targets: true}, {kind: "stepdown", targets: true},
}

// atSite is a fault at one of the first passes of a site of the activity.
func atSite(own keyed.Source, a *activity.Activity) scenario.Fault {
	sites := a.Sites()
	of := faultsAtSites[own.IntN("kind", len(faultsAtSites))]
	f := scenario.Fault{Kind: of.kind, When: scenario.Trigger{
		Site: sites[own.IntN("site", len(sites))],
		Nth:  keyed.Pick(own, "pass", 1, 1, 1, 2, 3, 5),
	}}
	if of.lasts {
		f.For = time.Duration(keyed.Pick(own, "for", 5, 30, 100, 300, 700, 1500)) * time.Millisecond
	}
	if of.targets {
		f.Target = keyed.Pick(own, "target", "shard-a", "shard-b", "shard-c", "config") + ".primary"
	}
	return f
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
		Clients: clients, Count: count, Span: scriptSpan, FirstID: len(s.Ops) + 1,
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
		Gap:        scriptSpan / most,
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
		To:           scriptSpan,
		Migrations:   len(s.Migrations),
		MovesPrimary: len(s.Primaries) > 0,
		Whole:        s.WholeTimes(),
	}
	for n := range d.IntN("faults", 4) {
		kind := keyed.Choose(d.IntN, fmt.Sprintf("kind/%d", n), faults.All(), kindOf)
		s.AddFaults(faults.Plan(kind, len(s.Faults)+1, space, d.IntN))
	}
	if d.Chance("aimed", 50) {
		aimed.Add(d, s, scriptSpan)
	}
	s.FaultsEnd = max(s.FaultsEnd, scriptSpan+longestHalves(s.Faults)+time.Second)
}
