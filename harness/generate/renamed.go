package generate

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// describedShare is how many percent of the renames are of a collection that operators have said
// something about, which its new name must keep.
const describedShare = 40

// describeRenamed has operators set the chunk size of collections that are about to be renamed, and
// give a range of them to a zone. It comes long enough before the rename to be done by then.
func describeRenamed(s *scenario.Scenario, d keyed.Source) {
	own := d.Fork(0x80)
	for i := range s.Ops {
		op := &s.Ops[i]
		who := fmt.Sprintf("rename/%d", op.ID)
		at := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
			return c.NS == op.NS && !c.Unsharded
		})
		if op.Kind != scenario.Rename || at < 0 || !own.Chance(who+"/described", describedShare) {
			continue
		}
		begin := max(0, op.At-time.Duration(100+own.IntN(who+"/before", 200))*time.Millisecond)
		s.Commands = append(s.Commands, scenario.Command{
			At: begin, Do: commandkind.ChunkSize, Name: op.NS,
			Value: strconv.Itoa(keyed.Pick(own, who+"/bytes", 200, 500)),
		})
		if own.Chance(who+"/zoned", 50) {
			s.Commands = append(s.Commands, zoned(own, who, begin, op.NS, s.Topology.Shards)...)
		}
	}
}

// zoned gives the lower keys of a collection to a zone of one shard.
func zoned(
	own keyed.Source, who string, begin time.Duration, ns string, shards int,
) []scenario.Command {
	shard := scenario.ShardName(own.IntN(who+"/shard", shards))
	return []scenario.Command{
		{At: begin, Do: commandkind.ZoneAdd, Name: shard, Value: "kept"},
		{
			At: begin + 30*time.Millisecond, Do: commandkind.ZoneRange, Name: ns,
			Min: scenario.MinKey, Max: 5, Value: "kept",
		},
	}
}
