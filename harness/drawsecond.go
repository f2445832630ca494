package harness

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// split divides the size between two collections, so that a scenario with two is no larger than others: a third of the
// operations and half of the migrations are the second one's, which has half the keys. Without a second one the first gets
// all.
func (z size) split(two bool) (first, second size) {
	if !two {
		return z, size{}
	}
	first, second = z, z
	second.ops, second.moves, second.keys = z.ops/3, z.moves/2, z.keys/2
	first.ops, first.moves = z.ops-second.ops, z.moves-second.moves
	return first, second
}

// addCollection gives the scenario its second collection, with operations and migrations. In most of the scenarios that
// collection is also dropped, made anew and indexed.
func addCollection(s *scenario.Scenario, d dice, z size) {
	own := dice{seed: scramble(d.seed ^ 0x2d)}
	coll := drawCollection(own, z)
	coll.NS = second
	if own.chance("few owners", 60) { // so that shards get it, with its indexes, by a migration
		coll.Bounds = coll.Bounds[:own.roll("inner bounds", len(coll.Bounds))]
	}
	s.Collections = append(s.Collections, coll)
	clients, next := z.topology.Clients, len(s.Ops)+1
	s.Ops = append(s.Ops, workloads.Draw(own.roll, workloads.Params{
		NS: second, Keys: coll.Keys, Preload: coll.Preload, Clients: clients, Count: z.ops, Span: z.span, FirstID: next,
	}, workloads.Standard())...)
	moves := workloads.DrawMoves(own.roll, workloads.MoveParams{
		Collection: coll, Shards: z.topology.Shards, Count: z.moves, Start: warmUp, Gap: (z.span - warmUp) / time.Duration(z.moves),
		WaitDelete: 20, FirstID: len(s.Migrations) + 1,
	}, pick(own, "moves", workloads.MoveCatalogue()...))
	s.Migrations = append(s.Migrations, moves...)
	if own.chance("whole", 70) {
		s.Ops = append(s.Ops, workloads.DrawWhole(own.roll, workloads.WholeParams{
			NS: second, Clients: clients, Count: pick(own, "wholes", 1, 2, 3, 5), Start: warmUp, End: z.span,
			Moves: moves, Drops: pick(own, "drops", 0, 0, 50, 100), FirstID: next + z.ops,
		})...)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}
