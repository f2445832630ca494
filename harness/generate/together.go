package generate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// togetherShare is how many percent of the seeds with several migrations have clients that
	// insert several documents with one command, togetherMoves for how many of the migrations.
	togetherShare, togetherMoves = 20, 50
	// togetherWithin is how far from the migration's request the command is sent at most.
	togetherWithin = 60 * time.Millisecond
	// emptied is how long before that the documents are deleted that may be there.
	emptied = 15 * time.Millisecond
)

// insertTogether has a client delete some documents, of several chunks, and insert them again with
// one command while a range of their collection moves. Collections that are replaced meanwhile are
// left alone: what is sent again would be inserted there once more (protocol 7).
func insertTogether(own keyed.Source, s *scenario.Scenario, z size) {
	if z.moves <= 1 || !own.Chance("together", togetherShare) {
		return
	}
	replaced := replacedNames(s)
	for _, m := range s.Migrations {
		who := own.Fork(uint64(m.ID))
		i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool { return c.NS == m.NS })
		if i < 0 || replaced[m.NS] || s.Collections[i].IDs > 0 || !who.Chance("moves", togetherMoves) {
			continue
		}
		s.Ops = append(s.Ops, insertedTogether(who, s, &s.Collections[i], m.At)...)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// insertedTogether are the operations about one migration.
func insertedTogether(
	own keyed.Source, s *scenario.Scenario, c *scenario.Collection, about time.Duration,
) (ops []scenario.Op) {
	client := own.IntN("client", s.Topology.Clients)
	at := max(emptied, about-burstLead+time.Duration(own.IntN("at", int(togetherWithin))))
	keys := map[int64]bool{}
	for i := range 2 + own.IntN("documents", 3) {
		keys[int64(own.IntN(fmt.Sprintf("key/%d", i), c.Keys))] = true
	}
	op := func(kind scenario.OpKind, at time.Duration, key int64) {
		ops = append(ops, scenario.Op{ID: len(s.Ops) + len(ops) + 1, At: at, Client: client, NS: c.NS,
			Kind: kind, Key: key})
	}
	sorted := slices.Sorted(maps.Keys(keys))
	for _, key := range sorted {
		op(scenario.DeleteOne, at-emptied, key)
	}
	for i, key := range sorted {
		op(scenario.Insert, at, key)
		last := &ops[len(ops)-1]
		last.Value, last.Together = fmt.Sprintf("w%d", last.ID), i > 0
	}
	return ops
}
