package generate

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// handOverShare is how many percent of the seeds with faults of one kind have primaries that hand
// over, and nothing else.
const handOverShare = 12

// handOverOnly has nothing happen in a scenario but that primaries hand over, one after the other,
// each when what the last has led to is long over: all of them must find successors.
func handOverOnly(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("hand-overs", handOverShare) {
		return
	}
	for _, k := range backgroundFaults {
		if k.name != "sim.task.stallDelay" {
			s.Set(scenario.Setting{Name: k.name, Value: "0"})
		}
	}
	s.Faults = nil
	at := 2 * time.Second
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		set := "config"
		if n := each.IntN("set", s.Topology.Shards+1); n < s.Topology.Shards {
			set = fmt.Sprintf("shard-%c", 'a'+n)
		}
		at += time.Duration(each.IntN("after", 1000)) * time.Millisecond
		s.Faults = append(s.Faults, scenario.Fault{
			ID: i + 1, Kind: "stepdown", Target: set + ".primary", When: scenario.Trigger{At: at},
		})
		at += 2500 * time.Millisecond
	}
	s.FaultsEnd = max(s.FaultsEnd, at)
}
