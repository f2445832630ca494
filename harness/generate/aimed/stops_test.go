package aimed_test

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// TestStops: in some scenarios a stop of the balancer meets a request of an earlier primary, which
// is let go as the door is about to be closed.
func TestStops(t *testing.T) {
	met := 0
	for seed := range uint64(800) {
		s := generate.Mixed(seed)
		if !slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool {
			return f.Kind == "hold" && f.Until != nil &&
				f.Until.Site == failpoint.BalancerStopCloseDoor.String() && f.Until.Nth == 1 &&
				slices.Contains(f.Args, scenario.Setting{
					Name: "messages", Value: "ShardsvrMoveRange",
				})
		}) {
			continue
		}
		if met++; s.Protocol == "4.2" || !stops(s) {
			t.Errorf("seed %d, protocol %q: nobody stops the balancer", seed, s.Protocol)
		}
	}
	if met < 3 {
		t.Errorf("%d seeds of 800 have such a stop", met)
	}
}

// TestStopsAfterFailures: in some scenarios of either protocol a balancer is stopped when its first
// migration has failed, and a copy of the request for that one comes as the stop is answered.
func TestStopsAfterFailures(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(1500) {
		s := generate.Mixed(seed)
		if len(s.Faults) == 0 || s.Faults[0].Kind != "duplicate" || s.Faults[0].Until == nil ||
			s.Faults[0].Until.Site != failpoint.BalancerStopCloseDoor.String() {
			continue
		}
		met[s.Protocol]++
		fails, early := s.Faults[1], s.Faults[2]
		if fails.Kind != "error" || early.Kind != "early-command" ||
			early.When.Site != fails.When.Site || !stops(s) {
			t.Errorf("seed %d: the stop does not follow the failure", seed)
		}
	}
	if len(met) != 2 {
		t.Errorf("seeds of 1,500 with such a stop, by protocol: %v", met)
	}
}

// stops says whether an operator stops the balancer.
func stops(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Commands, func(c scenario.Command) bool {
		return c.Do == commandkind.BalancerStop
	})
}
