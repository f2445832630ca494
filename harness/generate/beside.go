package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// besideShare is how many percent of the seeds with operations on whole collections, and with
	// shards that are added or removed, have one of these commands given while such an operation
	// runs.
	besideShare = 50
	// twoOperatorsShare is how many percent of the seeds with operators have two of them, who give
	// the same commands; of these, repeatShare percent are given twice.
	twoOperatorsShare, repeatShare = 15, 40
)

// repeated are the commands that two operators may give at once.
var repeated = []commandkind.Name{
	commandkind.AddShard, commandkind.RemoveShard, commandkind.BalancerStart,
	commandkind.BalancerStop, commandkind.ZoneAdd, commandkind.ZoneRemove, commandkind.ZoneRange,
	commandkind.SplitChunk, commandkind.MergeChunks,
}

// commandBeside has commands given while operations on whole collections run, and beside the same
// ones of another operator.
func commandBeside(own keyed.Source, s *scenario.Scenario, p Profile) {
	changeShardsBeside(own.Fork(1), s, p)
	if p.size.faults > 0 && !p.one {
		queueAtLock(own.Fork(2), s)
	}
	if !own.Chance("again", twoOperatorsShare) {
		return
	}
	for i, c := range slices.Clone(s.Commands) {
		who := fmt.Sprintf("command/%d", i)
		if slices.Contains(repeated, c.Do) && own.Chance(who, repeatShare) {
			c.At += time.Duration(own.IntN(who+"/after", 40)) * time.Millisecond
			s.Commands = append(s.Commands, c)
		}
	}
	s.SortCommands()
}

// changeShardsBeside moves a command that changes the list of shards to an operation on a whole
// collection, with what is to become of that shard later.
func changeShardsBeside(own keyed.Source, s *scenario.Scenario, p Profile) {
	whole, at := s.WholeTimes(), -1
	for i, c := range s.Commands {
		if c.Do == commandkind.AddShard || c.Do == commandkind.RemoveShard {
			at = i
			break
		}
	}
	if len(whole) == 0 || at < 0 || namesShards(s) || !own.Chance("beside", besideShare) {
		return
	}
	name := s.Commands[at].Name
	shift := keyed.Pick(own, "operation", whole...) +
		time.Duration(own.IntN("into", 40))*time.Millisecond - s.Commands[at].At
	for i := at; i < len(s.Commands); i++ {
		if c := &s.Commands[i]; c.Name == name &&
			(c.Do == commandkind.AddShard || c.Do == commandkind.RemoveShard) {
			c.At = max(0, c.At+shift)
		}
	}
	s.SortCommands()
	if p.size.faults > 0 && !p.one {
		s.AddFaults(scenario.Fault{
			Kind: "early-command",
			When: scenario.Trigger{
				Site: failpoint.ConfigDDLStep.String(), Nth: 1 + own.IntN("step", 8),
			},
			For: time.Duration(100+own.IntN("held for", 700)) * time.Millisecond,
		})
	}
}

// queueShare is how many percent of the seeds with a balancer have operators' commands about shards
// wait together for the config server's lock.
const queueShare = 20

// locked are the sites in a commit at which the config server holds its lock.
var locked = []failpoint.Site{
	failpoint.ConfigCommitReadColl, failpoint.ConfigCommitReadChunk,
	failpoint.ConfigCommitAfterLocalWrite,
}

// queueAtLock pauses the config server in the midst of a commit, while it holds its lock. Meanwhile
// operators change a shard and remove it, or remove two, and these commands queue for the lock.
// Each must go by what the one before it wrote, not by what it read before it got the lock.
func queueAtLock(own keyed.Source, s *scenario.Scenario) {
	founders := s.Topology.Founders()
	if !s.Balancer || founders < 2 || namesShards(s) || !own.Chance("queue", queueShare) {
		return
	}
	first := own.IntN("shard", founders)
	name, other := scenario.ShardName(first), (first+1+own.IntN("other", founders-1))%founders
	at := warmUp + time.Duration(100+own.IntN("at", 400))*time.Millisecond
	queue := []scenario.Command{
		{At: at, Do: commandkind.ZoneAdd, Name: name, Value: "north"},
		{At: at + time.Millisecond, Do: commandkind.RemoveShard, Name: name},
	}
	switch {
	case own.Chance("two", 40):
		queue[0] = scenario.Command{
			At: at, Do: commandkind.RemoveShard, Name: scenario.ShardName(other),
		}
	case s.Protocol == "4.2" && own.Chance("limit", 50):
		queue[0] = scenario.Command{At: at, Do: commandkind.ShardLimit, Name: name, Value: "5000"}
	}
	again := at + time.Duration(300+own.IntN("again", 600))*time.Millisecond
	for _, c := range queue {
		if c.Do == commandkind.RemoveShard {
			queue = append(queue,
				scenario.Command{At: again, Do: commandkind.AddShard, Name: c.Name})
		}
	}
	s.Commands = append(s.Commands, queue...)
	s.SortCommands()
	s.AddFaults(scenario.Fault{
		Kind: "pause",
		When: scenario.Trigger{
			Site: locked[own.IntN("site", len(locked))].String(), Nth: 1 + own.IntN("pass", 2),
		},
		Until: &scenario.Trigger{
			Site: failpoint.ConfigDrainStart.String(), Nth: 1,
			After: time.Duration(2+own.IntN("after", 15)) * time.Millisecond,
		},
		For: 600 * time.Millisecond,
	})
}
