// Package generate makes the scenario of a seed: a profile says how large it is and which faults it
// may have, and the seed decides topology, collections, operations, migrations, operators, settings
// and faults.
//
// Promise: a scenario is a pure function of seed and profile. Every question is keyed by what it is
// about, so that leaving something out of a profile leaves the rest of its scenarios as they were.
//
// Refusal: it runs nothing, and a drawn scenario does not depend on it: every answer is in the
// scenario's text.
package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/generate/aimed"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// mainNamespace is the collection of drawn scenarios, second the one that some have besides, and
// other a name that it may get.
const mainNamespace, secondNamespace, otherNamespace = "test.docs", "test.more", "test.other"

// Draw makes the scenario of a seed. It is a pure function of both arguments.
func Draw(seed uint64, p Profile) *scenario.Scenario {
	d := keyed.New(seed ^ 0xc0ffee)
	if p.scripted {
		return drawScripts(d, seed, p)
	}
	p.size = drawSize(d, p)
	s := &scenario.Scenario{
		Name:     p.Name,
		Seed:     seed,
		Topology: p.size.topology,
		Limit:    quiescenceLimit,
		Protocol: drawProtocol(d, p),
	}
	if p.balanced {
		drawBalancing(d, p, s)
		return s
	}
	s.Collections = []scenario.Collection{drawCollection(d, p.size)}
	s.Collections[0].Share = drawShare(d, p.size)
	drawReaders(d, p, s)
	shareIDs(d.Fork(0x88), s, p.size, operated(d))
	varySettings(d, s, p)
	mix := workloads.Standard()
	if d.Chance("weak reads", 30) {
		mix = workloads.Weak(mix)
		keepHistory(d, s)
	}
	if p.size.moves > 1 {
		mix = drawMix(d, mix)
	}
	two := p.size.moves > 1 && d.Chance("second collection", 35)
	size, rest := p.size.split(two)
	s.Ops = workloads.Draw(d.IntN, workloads.Params{
		NS:      mainNamespace,
		Keys:    size.keys,
		Preload: s.Collections[0].Preload,
		Clients: size.topology.Clients,
		Count:   size.ops,
		Span:    size.span,
		Hot:     keyed.Pick(d, "hot", 0, 10, 30, 60),
		FirstID: 1,
	}, mix)
	s.Migrations = workloads.DrawMoves(d.IntN, workloads.MoveParams{
		Collection: s.Collections[0],
		Shards:     size.topology.Shards,
		Count:      size.moves,
		Start:      warmUp,
		Gap:        (size.span - warmUp) / time.Duration(size.moves),
		WaitDelete: 20,
		Operator:   8,
		Open:       openMoves(s),
		FirstID:    1,
	}, keyed.Choose(d.IntN, "moves", workloads.MoveCatalog(), movesOf))
	if two {
		addCollection(s, d, rest)
	}
	addPurges(s, d, size)
	deleteShared(d.Fork(0x89), s)
	disturb(s, d, p, size)
	leaveEarly(s, d, size)
	if size.moves > 1 {
		addQuestions(d, s, size)
	}
	meetMoves(s, d, size)
	combineFaults(d, s, p)
	vary(d, s, size)
	if p.size.faults > 0 && !p.one {
		aimed.IsolateShards(d.Fork(0xf3), s)
	}
	raiseChunkSizes(s)
	return s
}

// meetMoves has operations, streams and scans happen while ranges move, and ranges move while
// collections are renamed.
func meetMoves(s *scenario.Scenario, d keyed.Source, size size) {
	gather(d.Fork(0x8f), s)
	openWhileMoving(d.Fork(0x90), s)
	takeTime(d.Fork(0xc5), s, size)
	readBelow(d.Fork(0xd8), s, size)
	askTwice(s, d, size)
	meetRenames(s, d)
}

// disturb draws what operators and faults do while clients work and data moves.
func disturb(s *scenario.Scenario, d keyed.Source, p Profile, size size) {
	s.Commands = drawCommands(d, size)
	s.SortCommands()
	cleanUpBesideMoves(d.Fork(0x7b), s)
	splits := drawSplits(d, size, s.Collections[0])
	s.Commands = append(s.Commands, splits...)
	if size.moves > 1 && d.Chance("unsharded", unshardedShare) {
		addUnsharded(d, s, size, !operated(d))
	}
	s.Faults = drawFaults(d, p, faults.Space{
		MovesPrimary: len(s.Primaries) > 0,
		Splits:       len(splits) > 0,
		Whole:        s.WholeTimes(),
	})
	s.FaultsEnd = size.span + max(faultsTail, longestHalves(s.Faults))
	zoneWhatIsMade(d.Fork(0x82), s)
	if size.moves > 1 && operated(d) {
		addOperators(d, s, size)
		removeRecipients(d.Fork(0x83), s, p)
		replaceWhileAway(d.Fork(0x87), s)
	}
}

// combineFaults adds faults and commands that do harm only together, or with what the scenario does
// at the time.
func combineFaults(d keyed.Source, s *scenario.Scenario, p Profile) {
	commandBeside(d.Fork(0x92), s, p)
	switch {
	case p.size.faults == 0:
	case p.one:
		handOverOnly(d.Fork(0xb2), s)
	default:
		aimed.Add(d, s, p.size.span)
		switchOffRemoved(d.Fork(0xe4), s)
	}
}

// purgeShare is how many percent of the seeds delete many documents at once.
const purgeShare = 20

// addPurges has the clients delete documents of the first collection together.
func addPurges(s *scenario.Scenario, d keyed.Source, size size) {
	if size.moves <= 1 || !d.Chance("purges", purgeShare) {
		return
	}
	s.Ops = append(s.Ops, workloads.DrawPurges(d.IntN, workloads.PurgeParams{
		NS:      mainNamespace,
		Keys:    s.Collections[0].Keys,
		Clients: s.Topology.Clients,
		Moves:   s.Migrations,
		Count:   keyed.Pick(d, "how many purges", 1, 2, 4),
		FirstID: len(s.Ops) + 1,
	})...)
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// leaverShare is how many percent of the seeds have a client that stops early.
const leaverShare = 20

// leaveEarly has another client do what the first would have done from some time on. The newest
// write of the first can be tried again all the while, however often its collection is moved or
// renamed: a client that goes on soon makes the servers forget what it has done before.
func leaveEarly(s *scenario.Scenario, d keyed.Source, size size) {
	if size.topology.Clients <= 1 || !d.Chance("a client leaves", leaverShare) {
		return
	}
	at := size.span * time.Duration(keyed.Pick(d, "leaves", 10, 25, 50)) / 100
	for i := range s.Ops {
		if s.Ops[i].Client == 0 && s.Ops[i].At >= at {
			s.Ops[i].Client = 1
		}
	}
}

// olderShare is how many percent of the seeds speak 4.2.
const olderShare = 30

func drawProtocol(d keyed.Source, p Profile) string {
	switch {
	case p.Protocol == "8.0":
		return "" // which says the same
	case p.Protocol != "" || !d.Chance("4.2", olderShare):
		return p.Protocol
	}
	return "4.2"
}

// keepHistory sets, for most runs with reads of the past, a window in which they can succeed.
func keepHistory(d keyed.Source, s *scenario.Scenario) {
	for i := range s.Settings {
		v := &s.Settings[i]
		if v.Name == "minSnapshotHistoryWindowInSeconds" && d.Chance("keep history", 80) {
			v.Value = "300s"
		}
	}
}

// forgetEarly has the config server forget soon, in some runs, where chunks were: only then are any
// joined without being asked for, and histories cut, in as little time as a run has.
func forgetEarly(own keyed.Source, s *scenario.Scenario) {
	if own.Chance("forgets", 40) {
		s.Set(scenario.Setting{
			Name:  "shortestHistoryWindowSecs",
			Value: keyed.Pick(own, "remembers", "10ms", "60ms", "300ms", "1s"),
		})
	}
}

// openMoves is how many percent of the migrations leave one end of the range to the donor.
func openMoves(s *scenario.Scenario) int {
	if s.Protocol == "4.2" {
		return 0
	}
	return 8
}

// streamShare is how many percent of the seeds have readers of change streams.
const streamShare = 25

const (
	// warmUp is when the first migration starts, settle how long faults go on after the last
	// operation started.
	warmUp     = 50 * time.Millisecond
	faultsTail = 300 * time.Millisecond
	// quiescenceLimit is how long the cluster has to converge after the faults. A real one would
	// have minutes.
	quiescenceLimit = 90 * time.Second
)

// size is how large a scenario is.
type size struct {
	topology         scenario.Topology
	ops, moves, keys int
	faults           int
	span             time.Duration
}

var (
	// standardSize is the size that figures are quoted for.
	standardSize = size{
		topology: scenario.Topology{
			Shards:        3,
			Members:       3,
			ConfigMembers: 3,
			Routers:       2,
			Clients:       6,
		},
		ops:    300,
		moves:  6,
		keys:   40,
		faults: 8,
		span:   1500 * time.Millisecond,
	}
	// smallSize is for strategies that run one scenario many times.
	smallSize = size{
		topology: scenario.Topology{
			Shards:        2,
			Members:       3,
			ConfigMembers: 3,
			Routers:       1,
			Clients:       4,
		},
		ops:   80,
		moves: 4,
		keys:  12,
		span:  400 * time.Millisecond,
	}
	// sweepSize is the size for trying one fault after the other.
	sweepSize = size{
		topology: scenario.Topology{
			Shards:        2,
			Members:       3,
			ConfigMembers: 3,
			Routers:       1,
			Clients:       3,
		},
		ops:    40,
		moves:  1,
		keys:   10,
		faults: 1,
		span:   150 * time.Millisecond,
	}
)

func drawCollection(d keyed.Source, z size) scenario.Collection {
	c := scenario.Collection{
		NS:      mainNamespace,
		Keys:    z.keys,
		Preload: z.keys * keyed.Pick(d, "preload", 5, 7, 9) / 10,
	}
	shards := int64(z.topology.Shards)
	if c.Hashed = d.Chance("hashed", 30); c.Hashed {
		for i := int64(1); i < shards; i++ {
			c.Bounds = append(c.Bounds, math.MinInt64+i*(math.MaxInt64/shards*2))
		}
		return c
	}
	for i := int64(1); i < shards; i++ {
		c.Bounds = append(c.Bounds, i*int64(z.keys)/shards)
	}
	return c
}

// sharedKeys is how many percent of the scenarios have several documents with one shard key.
const sharedKeys = 20

// drawShare is how many documents have one shard key. With a balancer besides, each has its own:
// chunks are so small then that few such documents fill one, which cannot be split and is moved in
// vain.
func drawShare(d keyed.Source, z size) int {
	if z.moves <= 1 || operated(d) || !d.Chance("shared keys", sharedKeys) {
		return 0
	}
	return keyed.Pick(d, "share", 2, 2, 3, 10)
}

// operated says whether the scenario has a balancer and operators besides its migrations.
func operated(d keyed.Source) bool { return d.Chance("operations", operatorShare) }

// drawFaults plans the faults of a profile: of one kind, or each of a drawn subset of its kinds,
// since some kinds hide what others would find. The space says what else the scenario does.
func drawFaults(d keyed.Source, p Profile, space faults.Space) []scenario.Fault {
	space.Topology, space.From, space.To, space.Migrations = p.size.topology, warmUp/2, p.size.span,
		p.size.moves
	kinds := drawKinds(d, p)
	var plan []scenario.Fault
	for id := 1; id <= p.size.faults && len(kinds) > 0; id++ {
		kind := keyed.Choose(d.IntN, fmt.Sprintf("fault/%d/kind", id), kinds, kindOf)
		f := faults.Plan(kind, id, space, d.IntN)
		if id > 1 && d.Chance(fmt.Sprintf("fault/%d/of a recovery", id), recoveryShare) {
			f = faults.AtRecovery(f, id, space, d.IntN)
		}
		plan = append(plan, f)
	}
	return plan
}

// longestHalves is for how long the longest division of the cluster lasts in which a replica set
// has one primary after the other; zero if none does.
func longestHalves(plan []scenario.Fault) (longest time.Duration) {
	for _, f := range plan {
		if faults.ReplacesPrimaries(f) {
			longest = max(longest, f.For)
		}
	}
	return longest
}

// recoveryShare is how many percent of the faults that may meet a recovery are aimed at one: what
// another fault has made necessary, few runs have.
const recoveryShare = 15

func drawKinds(d keyed.Source, p Profile) []*faults.Kind {
	all := p.kinds()
	if p.one && len(all) > 0 {
		return []*faults.Kind{keyed.Choose(d.IntN, "kind", all, kindOf)}
	}
	var some []*faults.Kind
	for _, k := range all {
		if d.Chance("swarm/"+k.Name, 60) {
			some = append(some, k)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// kindOf and movesOf are candidates of a choice, each as likely as any other.
func kindOf(k *faults.Kind) (name string, weight int)     { return k.Name, 1 }
func movesOf(m workloads.Moves) (name string, weight int) { return m.Name, 1 }
