package generate

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// fragmentedShare is how many percent of the seeds of the balancer of 8.0 begin with a collection
	// in fragments, which is defragmented.
	fragmentedShare = 30
	// fragments is the number of small chunks, fragmentKeys the number of keys in each.
	fragments, fragmentKeys = 12, 2
	// fragmentBytes is the size of a chunk, in bytes: several fragments fit into one.
	fragmentBytes = "600"
)

// breakUp makes the first keys of a collection many small chunks, dealt to all shards. It returns
// which collection, -1 for none.
func breakUp(own keyed.Source, s *scenario.Scenario) int {
	at := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
		return !c.Hashed && !c.Unsharded && c.Keys > 2*fragments*fragmentKeys
	})
	if s.Protocol == "4.2" || at < 0 || !own.Chance("fragments", fragmentedShare) {
		return -1
	}
	c := &s.Collections[at]
	c.Bounds, c.Owners = nil, 0
	for i := range int64(fragments) {
		c.Bounds = append(c.Bounds, (i+1)*fragmentKeys)
	}
	return at
}

// joinUp has the collection defragmented, and at about the same time some of the fragments assigned
// to a zone of one shard. A small chunk may be merged only with a neighbour in the same zone, and
// only on a shard of that zone; at this moment some neighbours are still on other shards.
func joinUp(own keyed.Source, s *scenario.Scenario, at int) {
	if at < 0 {
		return
	}
	ns, shard := s.Collections[at].NS, scenario.ShardName(own.IntN("shard", s.Topology.Founders()))
	ms := func(question string, n int) time.Duration {
		return time.Duration(own.IntN(question, n)) * time.Millisecond
	}
	from := own.IntN("from", fragments-4)
	to := from + 3 + own.IntN("chunks", fragments-from-3)
	begin := warmUp + ms("begin", 300)
	give := func(at time.Duration, zone string) scenario.Command {
		return scenario.Command{
			At: at, Do: commandkind.ZoneRange, Name: ns, Value: zone,
			Min: int64(from * fragmentKeys), Max: int64(to * fragmentKeys),
		}
	}
	zoned := max(0, begin+ms("zone", 120)-60*time.Millisecond)
	s.Commands = append(s.Commands,
		scenario.Command{At: 0, Do: commandkind.ChunkSize, Name: ns, Value: fragmentBytes},
		scenario.Command{At: zoned, Do: commandkind.ZoneAdd, Name: shard, Value: "south"},
		give(zoned+2*time.Millisecond, "south"),
		scenario.Command{At: begin, Do: commandkind.Defragment, Name: ns, Value: "on"},
		give(zoned+300*time.Millisecond+ms("ends", 900), commandkind.NoZone))
	s.SortCommands()
}
