package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/generate/aimed"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

const (
	// operatorShare is how many percent of the seeds with migrations of their own have a balancer
	// and operators besides.
	operatorShare = 15
	// documentBytes is about how many bytes a document has.
	documentBytes = 42
)

// balancedSize is that of scenarios in which all migrations are the balancer's.
func balancedSize() size {
	z := standardSize
	z.ops, z.moves, z.keys, z.span = 220, 0, 100, 1800*time.Millisecond
	return z
}

// drawBalancing makes the scenario one in which the balancer moves everything: data lie unevenly,
// chunks are small, rounds quick.
func drawBalancing(d keyed.Source, p Profile, s *scenario.Scenario) {
	z := p.size
	s.Balancer = d.Chance("balancer on", 90)
	s.Collections = []scenario.Collection{unevenCollection(d, mainNamespace, s)}
	two := d.Chance("second collection", 30)
	if two {
		s.Collections = append(s.Collections, unevenCollection(d.Fork(0x2e), secondNamespace, s))
	}
	shareKeys(d.Fork(0xfe), s)
	broken := breakUp(d.Fork(0x103), s)
	hot := keyed.Pick(d, "hot", 0, 10, 30, 60)
	if littleMemory(d) {
		hot = 90
	}
	varySettings(d, s, p)
	s.Set(balancerSettings(d, s.Topology)...)
	mix := workloads.Standard()
	if d.Chance("weak reads", 30) {
		mix = workloads.Weak(mix)
		keepHistory(d, s)
	}
	mix = drawMix(d, mix)
	count := z.ops / len(s.Collections)
	for i, c := range s.Collections {
		s.Ops = append(s.Ops, workloads.Draw(d.IntN, workloads.Params{
			NS:      c.NS,
			Keys:    c.Keys,
			Preload: c.Preload,
			Clients: z.topology.Clients,
			Count:   count,
			Span:    z.span,
			Hot:     hot,
			FirstID: 1 + i*count,
		}, mix)...)
	}
	makeAgain(d.Fork(0x3d), s, z)
	if own := d.Fork(0x3e); own.Chance("unsharded", unshardedShare) {
		addUnsharded(own, s, z, false)
	}
	keepSessions(d.Fork(0x3f), s)
	s.Commands = drawOperations(d, s, z, 2+d.IntN("operations/count", 4))
	zoneWhatIsMade(d.Fork(0x82), s)
	s.Faults = drawFaults(d, p, faults.Space{Splits: true, MovesPrimary: len(s.Primaries) > 0})
	giveWhileLeaving(d.Fork(0xd9), s, p)
	removeRecipients(d.Fork(0x83), s, p)
	replaceWhileAway(d.Fork(0x87), s)
	if littleMemory(d) && !namesShards(s) { // where the busy chunk is at first, and others behind it
		at := time.Duration(d.IntN("emptied at", 400)) * time.Millisecond
		s.Commands = append(s.Commands,
			scenario.Command{At: at, Do: commandkind.RemoveShard, Name: scenario.ShardName(0)})
	}
	joinUp(d.Fork(0x104), s, broken)
	addGrowth(d, s, z)
	addQuestions(d, s, z)
	stayApart(d.Fork(0xa8), s, z)
	commandBeside(d.Fork(0x92), s, p)
	aimed.Add(d, s, z.span)
	vary(d, s, z)
	addMistakes(d.Fork(0xd0), s, z)
	raiseChunkSizes(s)
	s.FaultsEnd = z.span + max(faultsTail, longestHalves(s.Faults))
}

// commonKeys is how many percent of the seeds of a balancer and of scripts have several documents
// with one shard key.
const commonKeys = 20

// shareKeys gives several documents each shard key: what looks for places to split then meets a key
// again. So few do not fill a chunk of their own.
func shareKeys(own keyed.Source, s *scenario.Scenario) {
	shared := func(c scenario.Collection) bool { return c.IDs > 0 }
	if !own.Chance("paired keys", commonKeys) || slices.ContainsFunc(s.Collections, shared) {
		return
	}
	each := keyed.Pick(own, "each", 2, 2, 3, 4)
	for i := range s.Collections {
		if c := &s.Collections[i]; !c.Unsharded {
			c.Share = each
		}
	}
}

// keepSessions has the collection of sessions appear, in few chunks, in some scenarios.
func keepSessions(own keyed.Source, s *scenario.Scenario) {
	if own.Chance("sessions", 10) {
		every, chunks := keyed.Pick(own, "every", 100, 700, 2000), 2+own.IntN("chunks", 6)
		s.Set(
			scenario.Setting{Name: "logicalSessionRefreshMillis", Value: fmt.Sprint(every)},
			scenario.Setting{
				Name: "minNumChunksForSessionsCollection", Value: fmt.Sprint(chunks),
			})
	}
}

// apartShare is how many percent of the scenarios of a balancer that merges chunks by itself have
// operators forbid that.
const apartShare = 40

// stayApart has operators forbid, for a while, that chunks are merged automatically, which happens
// all the time otherwise.
func stayApart(own keyed.Source, s *scenario.Scenario, z size) {
	sharded := shardedFromStart(s)
	if s.Protocol == "4.2" || len(sharded) == 0 || !own.Chance("apart", apartShare) {
		return
	}
	s.Set(
		scenario.Setting{
			Name:  "autoMergerIntervalSecs",
			Value: keyed.Pick(own, "every", "30ms", "60ms", "150ms"),
		},
		scenario.Setting{
			Name:  "autoMergerThrottlingMS",
			Value: keyed.Pick(own, "pause", "2ms", "40ms", "150ms"),
		},
		scenario.Setting{
			Name: "shortestHistoryWindowSecs", Value: keyed.Pick(own, "remembers", "10ms", "40ms"),
		})
	s.Commands = append(s.Commands, workloads.DrawApart(own.IntN, workloads.MergeParams{
		Collection: &sharded[own.IntN("which", len(sharded))], Start: warmUp, End: z.span,
	})...)
	s.SortCommands()
}

// makeAgain has the last collection dropped, and made again as the config server decides, while
// shards come and go.
func makeAgain(own keyed.Source, s *scenario.Scenario, z size) {
	if !own.Chance("whole", 25) {
		return
	}
	c := &s.Collections[len(s.Collections)-1]
	c.Made = keyed.Pick(own, "made", scenario.MadeDealt, scenario.MadePlaced)
	askForChunks(own, c)
	s.Ops = append(s.Ops, workloads.DrawWhole(own.IntN, workloads.WholeParams{
		NS:      c.NS,
		Clients: z.topology.Clients,
		Count:   keyed.Pick(own, "wholes", 1, 2, 3),
		Start:   warmUp,
		End:     z.span,
		Drops:   keyed.Pick(own, "drops", 50, 100),
		FirstID: len(s.Ops) + 1,
	})...)
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// unevenCollection is a collection whose chunks lie on few shards, or of which some are much larger
// than others.
func unevenCollection(d keyed.Source, ns string, s *scenario.Scenario) scenario.Collection {
	c := scenario.Collection{
		NS:     ns,
		Keys:   keyed.Pick(d, "keys", 60, 100, 140),
		Hashed: d.Chance("hashed", 25),
	}
	c.Preload = c.Keys * keyed.Pick(d, "preload", 6, 8, 10) / 10
	c.Owners = keyed.Pick(d, "owners", 1, 1, 2, 0)
	pieces := keyed.Pick(d, "pieces", 1, 3, 6, 10)
	if s.Protocol == "4.2" { // which moves whole chunks, and counts them
		pieces = keyed.Pick(d, "pieces", 6, 9, 12, 15)
	}
	for i := 1; i < pieces; i++ {
		at := int64(i)
		switch {
		case c.Hashed:
			at = math.MinInt64 + at*(math.MaxInt64/int64(pieces)*2)
		case d.Chance("one is larger", 50) && len(c.Bounds) > 0:
			at = c.Bounds[len(c.Bounds)-1] + 1 + int64(d.IntN(fmt.Sprintf("piece/%d", i), 3))
		default:
			at = max(at, at*int64(c.Keys)/int64(pieces))
		}
		c.Bounds = append(c.Bounds, at)
	}
	return c
}

// balancerSettings make rounds quick and chunks small, let some that are busy become jumbo, and put
// the members of the config server into time zones.
func balancerSettings(d keyed.Source, t scenario.Topology) []scenario.Setting {
	bytes := documentBytes * keyed.Pick(d, "documents a chunk", 4, 6, 10)
	all := []scenario.Setting{
		{
			Name:  "balancerRoundIntervalMillis",
			Value: keyed.Pick(d, "set/interval", "30ms", "80ms", "200ms"),
		},
		{
			Name:  "balancerShortIntervalMillis",
			Value: keyed.Pick(d, "set/short interval", "5ms", "20ms", "60ms"),
		},
		{Name: "chunkSizeBytes", Value: fmt.Sprint(bytes)},
		{
			Name:  "autoMergerIntervalSecs",
			Value: keyed.Pick(d, "set/merge interval", "1h", "100ms", "400ms"),
		},
		{Name: "autoMergerThrottlingMS", Value: keyed.Pick(d, "set/merge pause", "5ms", "15s")},
		{Name: "useRandomSplitPoint", Value: keyed.Pick(d, "set/random split", "0", "0", "1")},
		// A donor that gives up sooner than it has the end of the sessions' history never gets rid
		// of anything.
		{Name: "moveChunkCatchUpMaxWaitMillis", Value: "5s"},
	}
	if d.Chance("at random", 35) {
		all = append(all, scenario.Setting{Name: "balancerRandomMigrations", Value: "1"})
	}
	if littleMemory(d) {
		all = append(all,
			scenario.Setting{
				Name:  "transferModsMemoryBytes",
				Value: keyed.Pick(d, "memory", "0", "10", "30"),
			},
			scenario.Setting{Name: "recvChunkStatusWaitMillis", Value: "10ms"},
			scenario.Setting{Name: "migrateCloneInsertionBatchSize", Value: "1"},
			scenario.Setting{
				Name:  "migrateCloneInsertionBatchDelayMS",
				Value: keyed.Pick(d, "memory/delay", "8ms", "20ms"),
			})
	}
	w := workloads.Windows[d.IntN("zones", len(workloads.Windows))]
	for n := range t.ConfigMembers {
		east := w.Near[d.IntN(fmt.Sprintf("zone/%d", n), len(w.Near))]
		all = append(all, scenario.Setting{
			Name:  fmt.Sprintf("sim.clock.utcOffset.config.%d", n),
			Value: east.String(),
		})
	}
	return all
}

// littleMemory is true when hardly a chunk moves that is written to while it is cloned, which takes
// long then: it is split, or else marked jumbo. By its size no chunk ever is, as no two documents
// have the same key.
func littleMemory(d keyed.Source) bool { return d.Chance("little memory", 25) }

// drawOperations has operators do some things.
func drawOperations(d keyed.Source, s *scenario.Scenario, z size, stories int) []scenario.Command {
	return workloads.DrawOperations(d.IntN, workloads.OperationsParams{
		Collections: shardedFromStart(s),
		Shards:      s.Topology.Shards,
		Count:       stories,
		Start:       warmUp / 2,
		End:         z.span,
		Remove:      !namesShards(s),
		Older:       s.Protocol == "4.2",
	})
}

// shardedFromStart are the collections that are there from the start, and sharded.
func shardedFromStart(s *scenario.Scenario) (all []scenario.Collection) {
	for _, c := range s.Collections {
		if !c.Unsharded && !c.Absent {
			all = append(all, c)
		}
	}
	return all
}

// namesShards says whether a collection may be made with its chunks on all shards, by an operation
// or for the last pass: then none is removed. None is in 4.2 either while collections are dropped:
// a shard that has left keeps its orphans of them, and nobody could have it join again.
func namesShards(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Collections, func(c scenario.Collection) bool {
		if c.Unsharded || c.Made != "" && s.Protocol != "4.2" {
			return false
		}
		return c.Absent || slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
			return o.Kind.Whole() && (o.NS == c.NS || o.Into == c.NS)
		})
	})
}

// addOperators adds a balancer and operators to what a scenario does anyway.
func addOperators(d keyed.Source, s *scenario.Scenario, z size) {
	own := d.Fork(0x0b)
	s.Balancer = true
	s.Set(balancerSettings(own, s.Topology)...)
	s.Commands = append(s.Commands, drawOperations(own, s, z, 1+own.IntN("operations/count", 3))...)
	stayApart(d.Fork(0xa9), s, z)
}

// growthShare is how many percent of the seeds with a balancer begin with fewer shards than there
// are replica sets.
const growthShare = 20

// addGrowth has the last replica set be no shard at first, and join while everything runs.
func addGrowth(d keyed.Source, s *scenario.Scenario, z size) {
	own := d.Fork(0x9f)
	if s.Topology.Shards < 2 || !own.Chance("grows", growthShare) {
		return
	}
	s.Topology.Spare = 1
	for i := range s.Collections {
		c := &s.Collections[i]
		c.Owners = min(c.Owners, s.Topology.Founders())
	}
	s.Commands = append(s.Commands, workloads.DrawGrowth(own.IntN, workloads.GrowthParams{
		Spare:  []string{scenario.ShardName(s.Topology.Founders())},
		Limits: s.Protocol == "4.2",
		Start:  warmUp / 2,
		End:    z.span / 2,
	})...)
	s.SortCommands()
}
