package generate

import (
	"cmp"
	"slices"
	"strings"
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

const (
	// elsewhereShare is how many percent of the scenarios with an unsharded collection have it in a
	// database of its own, which moves beside that of the others.
	elsewhereShare = 30
	// ownDatabase begins with the whole name of the other database: what belongs to one of them may
	// not be taken for what belongs to the other.
	ownDatabase, mainDatabase = "tests", "test"
)

// putElsewhere puts what is unsharded, or was when it began, into another database.
func putElsewhere(own keyed.Source, s *scenario.Scenario) {
	some := slices.ContainsFunc(s.Collections, func(c scenario.Collection) bool {
		return elsewhere(c.NS) != c.NS
	})
	if !some || !own.Chance("elsewhere", elsewhereShare) {
		return
	}
	for i := range s.Collections {
		s.Collections[i].NS = elsewhere(s.Collections[i].NS)
	}
	for i := range s.Ops {
		s.Ops[i].NS, s.Ops[i].Into = elsewhere(s.Ops[i].NS), elsewhere(s.Ops[i].Into)
	}
	for i := range s.Migrations {
		s.Migrations[i].NS = elsewhere(s.Migrations[i].NS)
	}
	for i := range s.Primaries {
		s.Primaries[i].Database = ownDatabase
	}
	for i := range s.Streams {
		s.Streams[i].NS = elsewhere(s.Streams[i].NS)
	}
	for i := range s.Commands {
		s.Commands[i].Name = elsewhere(s.Commands[i].Name)
	}
}

// elsewhere is the name of an unsharded collection in its own database; others keep theirs.
func elsewhere(ns string) string {
	if ns != unshardedNamespace && ns != otherUnsharded {
		return ns
	}
	return ownDatabase + strings.TrimPrefix(ns, mainDatabase)
}
