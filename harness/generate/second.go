package generate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// split divides the size between two collections, so that a scenario with two is no larger than
// others: a third of the operations and half of the migrations are the second one's, which has half
// the keys. Without a second one the first gets all.
func (z size) split(two bool) (first, second size) {
	if !two {
		return z, size{}
	}
	first, second = z, z
	second.ops, second.moves, second.keys = z.ops/3, z.moves/2, z.keys/2
	first.ops, first.moves = z.ops-second.ops, z.moves-second.moves
	return first, second
}

// addCollection gives the scenario its second collection, with operations and migrations. In most
// of the scenarios that collection is also dropped, made again, indexed and renamed.
func addCollection(s *scenario.Scenario, d keyed.Source, z size) {
	own := d.Fork(0x2d)
	coll := drawCollection(own, z)
	coll.NS = secondNamespace
	coll.Share = s.Collections[0].Share
	if own.Chance("few owners", 60) { // so that shards get it, with its indexes, by a migration
		coll.Bounds = coll.Bounds[:own.IntN("inner bounds", len(coll.Bounds))]
	}
	coll.Made = keyed.Pick(own, "made", "", "", scenario.MadeDealt, scenario.MadePlaced)
	if operated(d) { // and shards may be removed
		coll.Made = keyed.Pick(own, "made meanwhile", scenario.MadeDealt, scenario.MadePlaced)
	}
	askForChunks(own, &coll)
	s.Collections = append(s.Collections, coll)
	clients, next := z.topology.Clients, len(s.Ops)+1
	ops := workloads.Draw(own.IntN, workloads.Params{
		NS:      secondNamespace,
		Keys:    coll.Keys,
		Preload: coll.Preload,
		Clients: clients,
		Count:   z.ops,
		Span:    z.span,
		FirstID: next,
	}, workloads.Standard())
	moves := workloads.DrawMoves(own.IntN, workloads.MoveParams{
		Collection: coll,
		Shards:     z.topology.Shards,
		Count:      z.moves,
		Start:      warmUp,
		Gap:        (z.span - warmUp) / time.Duration(z.moves),
		WaitDelete: 20,
		Open:       openMoves(s),
		FirstID:    len(s.Migrations) + 1,
	}, keyed.Choose(own.IntN, "moves", workloads.MoveCatalog(), movesOf))
	if own.Chance("whole", 70) {
		p := workloads.WholeParams{
			NS:      secondNamespace,
			Clients: clients,
			Count:   keyed.Pick(own, "wholes", 1, 2, 3, 5),
			Start:   warmUp,
			End:     z.span,
			Moves:   migrationTimes(moves),
			Scans:   scanTimes(ops),
			Drops:   keyed.Pick(own, "drops", 0, 0, 50, 100),
			FirstID: next + z.ops,
		}
		if own.Chance("renames", 50) {
			p.Other, p.Renames = otherNamespace, 50
			useOther(s, own, ops, moves)
			deleteLate(own, s)
		}
		ops = append(ops, workloads.DrawWhole(own.IntN, p)...)
		if own.Chance("watched", 40) {
			watch(s, own, secondNamespace, z)
		}
	}
	s.Ops, s.Migrations = append(s.Ops, ops...), append(s.Migrations, moves...)
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// askForChunks has the client that makes a hashed collection again say how many chunks it is to
// have, in half of the scenarios in which that is not said by bounds.
func askForChunks(own keyed.Source, c *scenario.Collection) {
	if c.Hashed && c.Made == scenario.MadePlaced && own.Chance("chunks are asked for", 50) {
		c.Initial = keyed.Pick(own, "chunks asked for", 1, 3, 4, 7)
	}
}

// migrationTimes are when migrations start.
func migrationTimes(moves []scenario.Migration) (times []time.Duration) {
	for _, m := range moves {
		times = append(times, m.At)
	}
	return times
}

// scanTimes are when queries of many documents start.
func scanTimes(ops []scenario.Op) (times []time.Duration) {
	for _, op := range ops {
		if op.Kind.Of().Shape == opkind.Ranged {
			times = append(times, op.At)
		}
	}
	return times
}

// deleteLate has shards wait before they delete what they have given away, in most scenarios with
// renames, or take their time over it: what is to be deleted then has another name by the time.
func deleteLate(own keyed.Source, s *scenario.Scenario) {
	if own.Chance("late deletions", 60) {
		s.Set(scenario.Setting{
			Name:  "orphanCleanupDelaySecs",
			Value: keyed.Pick(own, "deletions after", "30ms", "120ms", "400ms"),
		})
	}
	if own.Chance("slow deletions", 50) {
		s.Set(scenario.Setting{Name: "rangeDeleterBatchSize", Value: "1"}, scenario.Setting{
			Name:  "rangeDeleterBatchDelayMS",
			Value: keyed.Pick(own, "a document each", "10ms", "40ms"),
		})
	}
}

// watch has a reader follow a collection's changes, which ends whenever the collection does.
func watch(s *scenario.Scenario, d keyed.Source, ns string, z size) {
	for _, reader := range workloads.DrawStreams(
		d.IntN, workloads.StreamParams{NS: ns, Count: 1, Span: z.span / 2},
	) {
		reader.ID = len(s.Streams) + 1
		s.Streams = append(s.Streams, reader)
	}
}

// useOther has a part of the operations and migrations use the name that the second collection has
// now and then; a collection that is there from the beginning is in its way.
func useOther(s *scenario.Scenario, d keyed.Source, ops []scenario.Op, moves []scenario.Migration) {
	coll := s.Collections[len(s.Collections)-1]
	coll.NS = otherNamespace
	if !d.Chance("other exists", 50) {
		coll.Preload, coll.Absent = 0, true
	}
	s.Collections = append(s.Collections, coll)
	for i := range ops {
		if d.IntN(fmt.Sprintf("op/%d/other", i), 3) == 0 {
			ops[i].NS = otherNamespace
		}
	}
	for i := range moves {
		if d.IntN(fmt.Sprintf("move/%d/other", i), 3) == 0 {
			moves[i].NS = otherNamespace
		}
	}
}
