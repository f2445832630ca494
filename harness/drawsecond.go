package harness

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// split divides the size between two collections, so that a scenario with two is no larger than others: a third of the
// operations and migrations are the second one's, which has half the keys. Without a second one the first gets all.
func (z size) split(two bool) (first, second size) {
	if !two {
		return z, size{}
	}
	first, second = z, z
	second.ops, second.moves, second.keys = z.ops/3, max(1, z.moves/3), z.keys/2
	first.ops, first.moves = z.ops-second.ops, z.moves-second.moves
	return first, second
}

// addCollection gives the scenario its second collection, with operations and migrations. In half of the scenarios that
// collection is also dropped, made anew and indexed.
func addCollection(s *scenario.Scenario, d dice, z size) {
	own := dice{seed: scramble(d.seed ^ 0x2d)}
	coll := drawCollection(own, z)
	coll.NS = second
	s.Collections = append(s.Collections, coll)
	clients, next := z.topology.Clients, len(s.Ops)+1
	s.Ops = append(s.Ops, workloads.Draw(own.roll, workloads.Params{
		NS: second, Keys: coll.Keys, Preload: coll.Preload, Clients: clients, Count: z.ops, Span: z.span, FirstID: next,
	}, workloads.Standard())...)
	s.Migrations = append(s.Migrations, workloads.DrawMoves(own.roll, workloads.MoveParams{
		Collection: coll, Shards: z.topology.Shards, Count: z.moves, Start: warmUp, Gap: (z.span - warmUp) / time.Duration(z.moves),
		WaitDelete: 20, FirstID: len(s.Migrations) + 1,
	}, pick(own, "moves", workloads.MoveCatalogue()...))...)
	if own.chance("whole", 50) {
		s.Ops = append(s.Ops, workloads.DrawWhole(own.roll, workloads.WholeParams{
			NS: second, Clients: clients, Count: pick(own, "wholes", 1, 2, 3, 5), Start: warmUp, End: z.span,
			Drops: pick(own, "drops", 0, 50, 100), FirstID: next + z.ops,
		})...)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}
