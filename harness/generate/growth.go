package generate

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// growthShare is how many percent of the seeds with a balancer begin with fewer shards than there
// are replica sets.
const growthShare = 20

// addGrowth has the last replica set be no shard at first, and join while everything runs.
func addGrowth(d keyed.Source, s *scenario.Scenario, z size) {
	own := d.Fork(0x9f)
	if s.Topology.Shards < 2 || !own.Chance("grows", growthShare) {
		return
	}
	s.Topology.Spare = 1
	for i := range s.Collections {
		c := &s.Collections[i]
		c.Owners = min(c.Owners, s.Topology.Founders())
	}
	s.Commands = append(s.Commands, workloads.DrawGrowth(own.IntN, workloads.GrowthParams{
		Spare:  []string{scenario.ShardName(s.Topology.Founders())},
		Limits: s.Protocol == "4.2",
		Start:  warmUp / 2,
		End:    z.span / 2,
	})...)
	s.SortCommands()
}
