package aimed

import (
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// betweenShare is how many percent of the seeds with a balancer have operators give commands
	// between what it reads and what it does.
	betweenShare = 20
	// endShare is that of the seeds with a defragmentation, at the end of which it happens.
	endShare = 60
	// betweenFor is for how many milliseconds the balancer stands still at most.
	betweenFor = 200
)

// inRounds are where the balancer goes by what it has read before.
var inRounds = []failpoint.Site{
	failpoint.BalancerStats, failpoint.BalancerEnqueue, failpoint.BalancerDispatch,
	failpoint.BalancerSplitOrJumbo, failpoint.BalancerResult, failpoint.BalancerRoundBegin,
}

// commandBetween has the next command of an operator come while the balancer stands still: what it
// writes must not rest on what it has read before.
func commandBetween(own keyed.Source, s *scenario.Scenario) {
	if !s.Balancer || len(s.Commands) == 0 {
		return
	}
	for _, c := range s.Commands {
		if c.Do == commandkind.Defragment && own.Chance("end", endShare) {
			setMeanwhile(own.Fork(1), s, c)
			break
		}
	}
	if !own.Chance("between", betweenShare) {
		return
	}
	for i := range 1 + own.IntN("how many", 4) {
		each := own.Fork(uint64(2 + i))
		site := inRounds[each.IntN("site", len(inRounds))]
		giveEarly(each, s, scenario.Trigger{Site: site.String(), Nth: 1 + each.IntN("pass", 12)})
	}
}

// setMeanwhile has operators change how a collection is balanced while its defragmentation ends. In
// the end it is balanced, as no shard could be removed otherwise that has some of it.
func setMeanwhile(own keyed.Source, s *scenario.Scenario, begun scenario.Command) {
	at := begun.At
	for i := range 3 {
		each := own.Fork(uint64(i))
		at += time.Duration(50+each.IntN("at", 500)) * time.Millisecond
		set := scenario.Command{
			At: at, Do: commandkind.Balance, Name: begun.Name,
			Value: keyed.Pick(each, "value", "off", "on", "off"),
		}
		if each.Chance("size", 40) {
			set.Do, set.Value = commandkind.ChunkSize, keyed.Pick(each, "bytes", "150", "600")
		}
		s.Commands = append(s.Commands, set)
	}
	s.Commands = append(s.Commands, scenario.Command{
		At: at + 100*time.Millisecond, Do: commandkind.Balance, Name: begun.Name, Value: "on",
	})
	s.SortCommands()
	giveEarly(own, s, scenario.Trigger{Site: failpoint.BalancerDefragmented.String(), Nth: 1})
}

func giveEarly(own keyed.Source, s *scenario.Scenario, when scenario.Trigger) {
	s.AddFaults(scenario.Fault{
		Kind: "early-command", When: when,
		For: time.Duration(10+own.IntN("for", betweenFor)) * time.Millisecond,
	})
}
