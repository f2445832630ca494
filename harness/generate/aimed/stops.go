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

// failedShare is how many percent of the other seeds with such a balancer have it stopped when its
// first migration has just failed.
const failedShare = 12

// failsAt are where the first migration of a balancer fails for good.
var failsAt = []failpoint.Site{
	failpoint.DonorSendStart, failpoint.DonorSendStart, failpoint.RecipientRegister,
	failpoint.RecipientTaskLocal, failpoint.DonorServeClone,
}

// stopAfterFailure has the balancer's first migration fail, an operator stop the balancer then, and
// a copy of the request for that migration reach the donor when the stop is about to be answered,
// or has been.
func stopAfterFailure(own keyed.Source, s *scenario.Scenario) {
	if !s.Balancer || len(s.Migrations) > 0 || !own.Chance("stop after a failure", failedShare) {
		return
	}
	failed := scenario.Trigger{Site: failsAt[own.IntN("site", len(failsAt))].String(), Nth: 1}
	then := failed
	then.After = time.Duration(1+own.IntN("stopped", 30)) * time.Millisecond
	s.Faults = nil
	s.AddFaults(scenario.Fault{
		Kind: "duplicate", Target: "config.*>*",
		Until: &scenario.Trigger{
			Site: failpoint.BalancerStopCloseDoor.String(), Nth: 1,
			After: time.Duration(own.IntN("late", 90)) * time.Millisecond,
		},
		Args: []scenario.Setting{
			{Name: "messages", Value: "ShardsvrMoveRange"}, {Name: "copy", Value: "held"},
		},
	}, scenario.Fault{
		Kind: "error", When: failed,
		Args: []scenario.Setting{{Name: "code", Value: keyed.Pick(own, "code",
			"OperationFailed", "ConflictingOperationInProgress", "Interrupted")}},
	}, scenario.Fault{
		Kind: "early-command", When: then,
		For: time.Duration(10+own.IntN("for", 40)) * time.Millisecond,
	})
	stopFirst(own, s)
}

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
	stopFirst(own, s)
}

// stopFirst has stopping the balancer be the first thing that operators do; it is started again
// later.
func stopFirst(own keyed.Source, s *scenario.Scenario) {
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
