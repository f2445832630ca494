package generate

import (
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
)

// moveTargets has a range of a collection move that a rename is about to replace.
func moveTargets(s *scenario.Scenario, d keyed.Source) {
	own := d.Fork(0x7e)
	for op, who := range renames(s) {
		target := sharded(s, op.Into)
		if !op.DropTarget || target == nil || !own.Chance(who+"/meets", targetShare) {
			continue
		}
		before := time.Duration(own.IntN(who+"/before", 60)-10) * time.Millisecond
		m := scenario.Migration{
			ID: nextMigration(s), NS: op.Into, Min: scenario.MinKey, Max: scenario.MaxKey,
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
		if sharded(s, op.NS) == nil || !own.Chance(who+"/described", describedShare) {
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

// renames are the operations that rename a collection, each with the key of what is drawn for it.
func renames(s *scenario.Scenario) iter.Seq2[*scenario.Op, string] {
	return func(yield func(*scenario.Op, string) bool) {
		for i := range s.Ops {
			op := &s.Ops[i]
			if op.Kind == scenario.Rename && !yield(op, fmt.Sprintf("rename/%d", op.ID)) {
				return
			}
		}
	}
}

// sharded is the sharded collection that has a name at first, nil for none.
func sharded(s *scenario.Scenario, ns string) *scenario.Collection {
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
		return c.NS == ns && !c.Unsharded
	})
	if i < 0 {
		return nil
	}
	return &s.Collections[i]
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
