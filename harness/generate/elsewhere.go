package generate

import (
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

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
