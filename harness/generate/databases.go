package generate

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

const (
	// freshShare is how many percent of the seeds with an unsharded collection from the beginning,
	// and of those in which a shard is removed, get another database by a first write.
	freshShare, freshLeavingShare = 12, 60
	// freshOps is how many operations the collection of that database gets.
	freshOps = 14
	// freshNamespace is that collection.
	freshNamespace = "fresh.plain"
)

// makeDatabases has clients use a collection of a database that is made by their first write, when
// there are other databases, and mostly while a shard is being removed: it must get none.
func makeDatabases(own keyed.Source, s *scenario.Scenario, z size) {
	leaving := slices.IndexFunc(s.Commands, func(c scenario.Command) bool {
		return c.Do == commandkind.RemoveShard
	})
	share := freshShare
	if leaving >= 0 {
		share = freshLeavingShare
	}
	if !slices.ContainsFunc(s.Collections, func(c scenario.Collection) bool {
		return c.Unsharded && !c.Absent
	}) || !own.Chance("founded", share) {
		return
	}
	from := time.Duration(own.IntN("from", int(z.span)))
	if leaving >= 0 {
		from = s.Commands[leaving].At + time.Duration(own.IntN("into", 250))*time.Millisecond
	}
	c := scenario.Collection{NS: freshNamespace, Unsharded: true, Absent: true, Keys: 4}
	s.Collections = append(s.Collections, c)
	ops := workloads.Draw(own.IntN, workloads.Params{
		NS: c.NS, Keys: c.Keys, Clients: s.Topology.Clients, Count: freshOps, Span: z.span / 3,
		FirstID: len(s.Ops) + 1,
	}, workloads.Standard())
	for i := range ops {
		ops[i].At += from
	}
	s.Ops = append(s.Ops, ops...)
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}
