package aimed

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// majorityShare is how many percent of the seeds with faults of several kinds have replica sets
// whose majority takes longer than those who wait for it.
const majorityShare = 15

// slowMajorities has the disks of all members of a replica set be slow for a while: its primary
// stays, and serves what no majority has for longer than a write or a read waits for that.
func slowMajorities(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	if s.Topology.Members < 2 || !own.Chance("slow", majorityShare) {
		return
	}
	s.Set(scenario.Setting{
		Name: "writeConcernTimeoutMillis", Value: keyed.Pick(own, "wait", "150ms", "150ms", "300ms"),
	}, scenario.Setting{Name: "sim.disk.syncLatency", Value: "1ms"})
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		set := "config"
		if n := each.IntN("set", s.Topology.Shards+1); n > 0 {
			set = scenario.ShardName(n - 1)
		}
		s.AddFaults(scenario.Fault{
			Kind: "slow-disk", Target: set + ".*",
			When: scenario.Trigger{At: time.Duration(each.IntN("from", int(span)))},
			Args: []scenario.Setting{
				{Name: "factor", Value: fmt.Sprint(keyed.Pick(each, "factor", 80, 200, 500))},
			},
			For: time.Duration(100+each.IntN("for", 600)) * time.Millisecond,
		})
	}
}
