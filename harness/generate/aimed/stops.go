package aimed

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// stopShare is how many percent of the seeds with a balancer that moves everything have it stopped
// while a request of an earlier primary is still on its way.
const stopShare = 15

// stopBetween has the balancer's first request to move something come late, and its primary
// deposed: the next one, which knows of no migration, is told to stop, and has nothing to wait for.
// The migration reaches its commit as the stop is answered. Nothing else goes wrong, since few
// migrations get that far otherwise.
func stopBetween(own keyed.Source, s *scenario.Scenario) {
	if !s.Balancer || len(s.Migrations) > 0 || s.Protocol == "4.2" ||
		s.Topology.ConfigMembers < 2 || !own.Chance("stop", stopShare) {
		return
	}
	asked := scenario.Trigger{Site: failpoint.BalancerDispatch.String(), Nth: 1}
	asked.After = time.Duration(1+own.IntN("deposed", 5)) * time.Millisecond
	shut := failpoint.BalancerStopCloseDoor.String()
	committing := failpoint.ConfigCommitLock.String()
	door := time.Duration(own.IntN("shut", 12)) * time.Millisecond
	s.Faults = nil
	s.AddFaults(scenario.Fault{
		Kind: "hold", Target: "config.*>*", Until: &scenario.Trigger{Site: shut, Nth: 1},
		Args: []scenario.Setting{
			{Name: "messages", Value: "ShardsvrMoveRange"}, {Name: "count", Value: "2"},
		},
	}, scenario.Fault{
		Kind: "stepdown", Target: "config.primary", When: asked,
	}, scenario.Fault{
		Kind: "early-command",
		When: scenario.Trigger{Site: failpoint.BalancerStepUp.String(), Nth: 1},
		For:  time.Duration(10+own.IntN("takes over", 30)) * time.Millisecond,
	}, scenario.Fault{
		Kind: "pause", When: scenario.Trigger{Site: shut, Nth: 1},
		Until: &scenario.Trigger{Site: committing, Nth: 1, After: door},
	}, scenario.Fault{
		Kind: "pause", When: scenario.Trigger{Site: committing, Nth: 1},
		For: door + time.Duration(own.IntN("commit", 60))*time.Millisecond,
	})
	at := time.Duration(1000+own.IntN("at", 400)) * time.Millisecond
	s.Commands = slices.DeleteFunc(s.Commands, func(c scenario.Command) bool { return c.At < at })
	s.Commands = append(s.Commands,
		scenario.Command{At: at, Do: commandkind.BalancerStop},
		scenario.Command{
			At: at + time.Duration(500+own.IntN("on again", 600))*time.Millisecond,
			Do: commandkind.BalancerStart,
		})
	s.SortCommands()
}
