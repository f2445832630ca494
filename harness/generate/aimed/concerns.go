package aimed

import (
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// concernShare is how many percent of the commands that insert several documents have a shard of
// which no majority answers in time.
const concernShare = 35

// IsolateShards cuts the primary of a shard off from its set as a command inserts several
// documents: those that go there may not satisfy the write concern, while the rest does, and the
// answer is about the whole (protocol 7). It comes last, when there are such commands.
func IsolateShards(own keyed.Source, s *scenario.Scenario) {
	set := false
	for i := range s.Ops {
		o := &s.Ops[i]
		each := own.Fork(uint64(o.ID))
		first := i+1 < len(s.Ops) && s.Ops[i+1].Together && !o.Together
		if !first || !each.Chance("isolated", concernShare) {
			continue
		}
		set = true
		late := time.Duration(each.IntN("late", 12)) * time.Millisecond
		s.AddFaults(scenario.Fault{
			Kind:   "isolated-primary",
			Target: scenario.ShardName(each.IntN("shard", s.Topology.Shards)) + ".primary",
			When:   scenario.Trigger{At: o.At + late},
			For:    time.Duration(200+each.IntN("for", 400)) * time.Millisecond,
		})
	}
	if set && own.Chance("short", 80) {
		s.Set(scenario.Setting{Name: "writeConcernTimeoutMillis", Value: "150ms"})
	}
}
