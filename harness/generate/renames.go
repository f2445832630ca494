package generate

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// targetShare is how many percent of the renames that may replace a collection meet a migration
	// of that one.
	targetShare = 50
	// describedShare is how many percent of the renames are of a collection that operators have
	// said something about, which its new name must keep.
	describedShare = 40
	// returnedShare is how many percent of the renames of a sharded collection are undone soon
	// after, while a range has come back that was given away just before.
	returnedShare = 20
	// carriedShare is how many percent of the renames of a sharded collection are followed by moves
	// of a range from shard to shard.
	carriedShare = 25
)

// meetRenames has ranges move and settings change when collections are renamed.
func meetRenames(s *scenario.Scenario, d keyed.Source) {
	moveTargets(s, d)
	describeRenamed(s, d)
	returnRenamed(s, d.Fork(0x8d))
	carryOn(s, d.Fork(0xc3))
}

// moveTargets has a range of a collection move that a rename is about to replace.
func moveTargets(s *scenario.Scenario, d keyed.Source) {
	own := d.Fork(0x7e)
	for op, who := range renames(s) {
		target := s.Sharded(op.Into)
		if !op.DropTarget || target == nil || !own.Chance(who+"/meets", targetShare) {
			continue
		}
		before := time.Duration(own.IntN(who+"/before", 60)-10) * time.Millisecond
		m := scenario.Migration{
			ID: s.NextMigration(), NS: op.Into, Min: scenario.MinKey, Max: scenario.MaxKey,
			At: max(0, op.At-before), To: own.IntN(who+"/to", s.Topology.Shards),
		}
		if len(target.Bounds) > 0 {
			m.Max = target.Bounds[0]
		}
		s.Migrations = append(s.Migrations, m)
	}
}

// describeRenamed has operators set the chunk size of collections that are about to be renamed, and
// give a range of them to a zone, as they may give one of the new name, which is free by then or
// another collection's.
func describeRenamed(s *scenario.Scenario, d keyed.Source) {
	own := d.Fork(0x80)
	for op, who := range renames(s) {
		if s.Sharded(op.NS) == nil || !own.Chance(who+"/described", describedShare) {
			continue
		}
		begin := max(0, op.At-time.Duration(100+own.IntN(who+"/before", 200))*time.Millisecond)
		s.Commands = append(s.Commands, scenario.Command{
			At: begin, Do: commandkind.ChunkSize, Name: op.NS,
			Value: strconv.Itoa(keyed.Pick(own, who+"/bytes", 200, 500)),
		})
		if own.Chance(who+"/zoned", 50) {
			s.Commands = append(s.Commands,
				zoned(own, who, begin, op.NS, scenario.MinKey, s.Topology.Shards)...)
		}
		if own.Chance(who+"/target zoned", 40) {
			s.Commands = append(s.Commands,
				zoned(own, who+"/target", begin, op.Into, 2, s.Topology.Shards)...)
		}
	}
}

// returnRenamed has a range leave its shard before a rename and come back after it, and the
// collection get its old name back: the shard may still have to delete what it gave away.
func returnRenamed(s *scenario.Scenario, d keyed.Source) {
	moved := false
	for op, who := range renames(s) {
		c := s.Sharded(op.NS)
		if c == nil || s.Topology.Shards < 2 || !d.Chance(who+"/returned", returnedShare) {
			continue
		}
		after := func(what string, least, most int) time.Duration {
			ms := least + d.IntN(who+"/"+what, most-least)
			return max(0, op.At+time.Duration(ms)*time.Millisecond)
		}
		home, hi := d.IntN(who+"/home", s.Topology.Shards), int64(scenario.MaxKey)
		away := (home + 1 + d.IntN(who+"/away", s.Topology.Shards-1)) % s.Topology.Shards
		if len(c.Bounds) > 0 {
			hi = c.Bounds[0]
		}
		for _, m := range []scenario.Migration{
			{NS: op.NS, To: home, At: after("gets", -400, -200)},
			{NS: op.NS, To: away, At: after("leaves", -120, -10)},
			{NS: op.Into, To: home, At: after("comes back", 0, 80)},
		} {
			m.ID, m.Min, m.Max = s.NextMigration(), scenario.MinKey, hi
			s.Migrations = append(s.Migrations, m)
		}
		s.Ops = append(s.Ops, scenario.Op{
			ID: len(s.Ops) + 1, Client: d.IntN(who+"/client", s.Topology.Clients), Kind: scenario.Rename,
			NS: op.Into, Into: op.NS, DropTarget: true, At: after("back", 60, 400),
		})
		moved = true
	}
	if moved {
		deleteLate(d, s)
		slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	}
}

// carryOn has a client write under the name that a collection is about to lose, and send nothing
// more, so that its write remains the newest of its session and may still be retried; then the
// first or the last chunk moves from shard to shard under the new name: that of the document,
// unless its key lies in the middle or is hashed.
func carryOn(s *scenario.Scenario, own keyed.Source) {
	for op, who := range renames(s) {
		c := s.Sharded(op.NS)
		if c == nil || s.Topology.Shards < 2 || !own.Chance(who+"/carried on", carriedShare) {
			continue
		}
		write := scenario.Op{
			ID: len(s.Ops) + 1, Client: s.Topology.Clients, Kind: scenario.Upsert, NS: op.NS,
			Key: int64(own.IntN(who+"/key", c.Keys)), Value: fmt.Sprintf("w%d", len(s.Ops)+1),
			At: max(0, op.At-time.Duration(5+own.IntN(who+"/before", 60))*time.Millisecond),
		}
		s.Ops = append(s.Ops, write)
		s.Topology.Clients++
		to, at := own.IntN(who+"/to", s.Topology.Shards), op.At
		for n := range 3 {
			at += time.Duration(20+own.IntN(fmt.Sprintf("%s/gap/%d", who, n), 200)) * time.Millisecond
			m := scenario.Migration{
				ID: s.NextMigration(), NS: op.Into, Min: scenario.MinKey, Max: scenario.MaxKey, At: at,
				To: (to + n) % s.Topology.Shards,
			}
			if len(c.Bounds) > 0 && (c.Hashed || write.Key < c.Bounds[0]) {
				m.Max = c.Bounds[0]
			} else if len(c.Bounds) > 0 {
				m.Min = c.Bounds[len(c.Bounds)-1]
			}
			s.Migrations = append(s.Migrations, m)
		}
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// renames are the operations that rename a collection, each with the key of what is drawn for it.
func renames(s *scenario.Scenario) iter.Seq2[scenario.Op, string] {
	return func(yield func(scenario.Op, string) bool) {
		for _, op := range s.Ops {
			if op.Kind == scenario.Rename && !yield(op, fmt.Sprintf("rename/%d", op.ID)) {
				return
			}
		}
	}
}

// zoned gives lower keys of a collection, from one on, to a zone of one shard.
func zoned(
	own keyed.Source, who string, begin time.Duration, ns string, from int64, shards int,
) []scenario.Command {
	shard := scenario.ShardName(own.IntN(who+"/shard", shards))
	return []scenario.Command{
		{At: begin, Do: commandkind.ZoneAdd, Name: shard, Value: "kept"},
		{
			At: begin + 30*time.Millisecond, Do: commandkind.ZoneRange, Name: ns,
			Min: from, Max: 5, Value: "kept",
		},
	}
}
