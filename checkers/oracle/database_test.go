package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// on is a database on shard a, with a document of an unsharded collection and one of a sharded.
const on = opening + `
database 1 2 create -..+=a@1|0
majority config.0 1 2
plain user a.0 1 2 p 21
majority a.0 1 2
`

// movedPrimary is a flawless move of the primary from a to b.
const movedPrimary = on + `
plain copy b.0 1 1 p 21 p1
majority b.0 1 1
plain block a.0 p1
database 1 3 movePrimary_p1 -..+=b@2|0
majority config.0 1 3
plain release a.0 p1
plain clean a.0 1 3 p
`

// renameToPlain gives the sharded collection the name of the unsharded one.
const renameToPlain = "table 1 3 drop\nplain table 1 4 renameFrom_test.docs -..m=a@1|0 m..+=b@1|1\n"

// Unsharded collections obey the same rules, with their database for a routing table.
func TestStepOraclesOfDatabases(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		signature verdict.Signature
	}{
		"a move":               {movedPrimary, ""},
		"renamed over it":      {on + renameToPlain + "majority config.0 1 4", tookName},
		"renamed, and refused": {on + renameToPlain, ""},
		"renamed, nothing there": {
			strings.Replace(on, "user a.0 1 2 p 21", "user a.0 1 2 p 0", 1) + renameToPlain +
				"majority config.0 1 4", "",
		},
		"the new primary writes": {movedPrimary + "plain user b.0 1 2 p 22", ""},
		"the old primary writes": {
			movedPrimary + "plain user a.0 1 4 p 22", writeByStranger,
		},
		"write beside the primary":     {on + "plain user b.0 1 1 p 22", writeByStranger},
		"the sharded collection stays": {movedPrimary + "user a.0 1 4 c 12", ""},
		"write while blocked": {
			on + "plain block a.0 p1\nplain user a.0 1 3 p 22", writeInSection,
		},
		"write to another collection": {on + "plain block a.0 p1\nuser a.0 1 3 c 12", ""},
		"commit without the document": {
			strings.Replace(
				movedPrimary, "plain copy b.0 1 1 p 21 p1", "plain copy b.0 1 1 q 21 p1", 1,
			), notMoved,
		},
		"commit with an older state": {
			strings.Replace(
				movedPrimary, "plain copy b.0 1 1 p 21 p1", "plain copy b.0 1 1 p 20 p1", 1,
			), movedStale,
		},
		"commit with a deleted document": {
			strings.Replace(movedPrimary, "plain block", "plain delete a.0 1 3 p\nplain block", 1),
			movedDeleted,
		},
		"commit before the majority": {
			strings.Replace(movedPrimary, "majority b.0 1 1\n", "", 1), notDurableYet,
		},
		"copy after the commit": {
			movedPrimary + "plain copy b.0 1 2 p 21 p1", lateCopy,
		},
		"dropped before the move": {on + "plain clean a.0 1 3 p", deletedOwned},
		"dropped after it came back": {
			movedPrimary +
				"database 1 4 movePrimary_p2 -..+=a@3|0\nmajority config.0 1 4\nplain clean a.0 " +
				"1 5 p", deletedOwned,
		},
		"dropped under an open cursor": {
			strings.Replace(movedPrimary, "plain block", "plain cursor a.0 c1 - +\nplain block", 1),
			deletedPinned,
		},
		"version not newer": {
			on + "database 1 3 movePrimary_p1 -..+=b@1|0", oldVersion,
		},
		"lost commit of a deposed config": {
			strings.Replace(movedPrimary, "majority config.0 1 3",
				"elected config.1 2 2 1:2\nmajority config.1 2 3", 1), deletedOwned,
		},
		"document of the collection was lost": {
			strings.Replace(movedPrimary, "majority b.0 1 1\n", "elected b.1 2 0\n", 1), notMoved,
		},
	} {
		t.Run(name, func(t *testing.T) { expectSignature(t, observe(t, c.script), c.signature) })
	}
}

// What a client has gone on from is of no use on the next primary, and of no harm either: it may
// arrive until that is fenced. What it may repeat must be there before the commit.
func TestHistoryAfterThePrimaryMoved(t *testing.T) {
	const late = "plain import b.0 1 2 p s 5 0 p1"
	for name, c := range map[string]struct {
		before    string
		signature verdict.Signature
	}{
		"of what its client may repeat": {"plain execute a.0 1 4 p s 5 0\n", lateHistory},
		"of what its client has gone on from": {
			"plain execute a.0 1 4 p s 5 0\nexecute a.0 1 5 c s 6 0\n", "",
		},
		"of nothing that is known": {"", lateHistory},
		"of what it has on record": {
			"plain execute a.0 1 4 p s 5 0\nplain import b.0 1 2 p s 5 0 p1\nmajority b.0 1 2\n", "",
		},
	} {
		s := script{o: New(nil)}
		s.o.Observe(trace.PrimaryMovingEvent{
			Shard: "a", Peer: "b", NS: "test", Migration: "p1",
		}.Event())
		s.lines(t, strings.Replace(movedPrimary, "plain block", c.before+"plain block", 1)+late)
		t.Run(name, func(t *testing.T) { expectOf(t, s.o, fencingRule, c.signature) })
	}
}

// A statement from before the collection was sharded goes with every range, if its key says nothing
// of the shard key; otherwise with the range of its key.
func TestHistoryFromBeforeTheShardKey(t *testing.T) {
	const (
		before = on + "plain execute a.0 1 4 p s 5 0\nmajority a.0 1 4\n"
		shards = "plain table 1 3 shardCollection -..+=a@1|0\nmajority config.0 1 3\n"
		moves  = "plain table 1 4 move_m1 -..b=b@2|0 b..+=a@2|1\nmajority config.0 1 4\n"
		handed = "plain import b.0 1 1 p s 5 0 m1\nmajority b.0 1 1\n"
	)
	for name, c := range map[string]struct {
		script  string
		rekeyed bool
		other   bool // the collection has another identity when its range moves
		want    verdict.Signature
	}{
		"by another key":                   {before + shards + moves, true, false, notRemembered},
		"by another key, and handed over":  {before + shards + handed + moves, true, false, ""},
		"by the same key":                  {before + shards + moves, false, false, ""},
		"executed in another collection":   {before + shards + moves, true, true, ""},
		"executed when it was sharded":     {on + shards + before[len(on):] + moves, true, false, ""},
		"its client has gone on elsewhere": {before + "execute a.0 1 5 c s 6 0\n" + shards + moves, true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, identity := script{o: New(nil)}, "one"
			s.o.Plain("test.plain")
			if c.rekeyed {
				s.o.Rekeyed("test.plain")
			}
			s.o.Identities(func(string, string) string { return identity })
			rest, _ := strings.CutSuffix(c.script, moves)
			s.lines(t, opening+rest)
			if c.other {
				identity = "another"
			}
			s.lines(t, moves)
			expectOf(t, s.o, durabilityRule, c.want)
		})
	}
}

// What was executed on an unsharded collection moves with the database, unless another collection
// has its name by then that an operation shards: that one stays.
func TestHistoryOfDatabase(t *testing.T) {
	const (
		executed = on + "plain execute a.0 1 3 p s 5 0\nmajority a.0 1 3\nmoving a.0 p1 b clone\n"
		moves    = "plain copy b.0 1 1 p 21 p1\nmajority b.0 1 1\n" +
			"database 1 3 movePrimary_p1 -..+=b@2|0\nmajority config.0 1 3\n"
	)
	for name, c := range map[string]struct {
		then, blocks string
		want         verdict.Signature
	}{
		"the same":                {"one", "", notRemembered},
		"the same, to be sharded": {"one", "plain block a.0 o1\n", notRemembered},
		"none":                    {"", "", notRemembered},
		"another":                 {"two", "", notRemembered},
		"another, to be sharded":  {"two", "plain block a.0 o1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, identity := script{o: New(nil)}, "one"
			s.o.Plain("test.plain")
			s.o.Identities(func(string, string) string { return identity })
			s.lines(t, opening+executed)
			identity = c.then
			s.lines(t, c.blocks+moves)
			expectOf(t, s.o, durabilityRule, c.want)
		})
	}
}

// Once a collection is sharded, no client's request drops or renames it on one shard.
func TestWholeChanges(t *testing.T) {
	const sharded = on + "plain table 1 3 shardCollection -..+=a@1|0\nmajority config.0 1 3\n"
	for name, c := range map[string]struct {
		script    string
		whole     bool
		signature verdict.Signature
	}{
		"a drop":               {sharded + "plain user a.0 1 4 p 22", true, changedAsPlain},
		"a write":              {sharded + "plain user a.0 1 4 p 22", false, ""},
		"of an unsharded one":  {on + "plain user a.0 1 4 p 22", true, ""},
		"before it is written": {until(sharded, "majority config.0 1 3") + "plain user a.0 1 4 p 22", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Plain("test.plain")
			s.o.WholeChanges(func(string, uint64) bool { return c.whole })
			s.lines(t, c.script)
			expectSignature(t, s.o, c.signature)
		})
	}
}
