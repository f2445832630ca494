package aimed

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
	// lateOrderShare is how many percent of the removals that are followed by an addition have an
	// order to the shard that comes once more when it has joined again.
	lateOrderShare = 35
	// lateJoinShare is how many percent of the additions have an order to join that comes once more
	// when the shard has long joined, and may have been given something.
	lateJoinShare = 35
	// outsideShare is how many percent of the removals that are followed by the first addition have
	// requests to receive arrive between the order to join and the admission.
	outsideShare = 25
	// lateRequestShare is how many percent of the operations on whole collections have a copy of
	// their request that comes when others have been carried out.
	lateRequestShare = 20
)

// requested are the requests of operations on whole collections.
var requested = map[scenario.OpKind]string{
	scenario.Drop: "DropCollection", scenario.Rename: "RenameCollection",
	scenario.Create: "ShardCollection", scenario.Shard: "ShardCollection",
	scenario.CreateIndex: "CreateIndex", scenario.DropIndex: "DropIndex",
}

// delayRequests has copies of requests for operations on whole collections come late, in scenarios
// that may have faults of any kind: what was refused then might be carried out now.
func delayRequests(own keyed.Source, s *scenario.Scenario) {
	for i, op := range s.Ops {
		who, class := fmt.Sprintf("late request/%d", op.ID), requested[op.Kind]
		if class == "" || !own.Chance(who, lateRequestShare) {
			continue
		}
		s.AddFaults(scenario.Fault{
			Kind: "duplicate", Target: "router.*>config.*",
			When: scenario.Trigger{At: max(0, op.At-time.Millisecond)},
			Args: []scenario.Setting{
				{Name: "messages", Value: class}, {Name: "copy", Value: "held"},
			},
			For: heldBack(own.Fork(uint64(op.ID)), s.Ops[i:]),
		})
	}
}

// heldBack is for how long a copy of the request for the first of these operations is held, mostly
// until the next operation of its client is over: the copy is then an older request of the same
// session.
func heldBack(own keyed.Source, ops []scenario.Op) time.Duration {
	late := time.Duration(40+own.IntN("for", 500)) * time.Millisecond
	next := slices.IndexFunc(ops[1:], func(o scenario.Op) bool {
		return o.Client == ops[0].Client && requested[o.Kind] != ""
	})
	if next >= 0 && own.Chance("until the next", 60) {
		late += time.Duration(own.IntN("over", 900))*time.Millisecond + ops[1+next].At - ops[0].At
	}
	return late
}

// lateJoin has a copy of the order to join come late: after some time, or soon after the next
// operation on a whole collection, which may have given the shard chunks without a document.
func lateJoin(c scenario.Command, own keyed.Source, who string) scenario.Fault {
	f := scenario.Fault{
		Kind: "duplicate", When: scenario.Trigger{At: c.At},
		Target: "config.*>" + c.Name + ".*",
		Args: []scenario.Setting{
			{Name: "messages", Value: "ShardsvrJoinCluster"}, {Name: "copy", Value: "held"},
		},
		For: time.Duration(60+own.IntN(who+"/join/for", 900)) * time.Millisecond,
	}
	if own.Chance(who+"/join/made", 50) {
		f.For, f.Until = 0, &scenario.Trigger{
			Site: failpoint.ConfigDDLCatalog.String(), Nth: 1 + own.IntN(who+"/join/nth", 3),
			After: time.Duration(10+own.IntN(who+"/join/after", 150)) * time.Millisecond,
		}
	}
	return f
}

// delayOrders has a copy of an order to leave come when the shard has joined again, copies of
// orders to join when that has long been done, and requests to receive while the shard joins, in
// scenarios that may have faults of any kind.
func delayOrders(own keyed.Source, s *scenario.Scenario) {
	for i, c := range s.Commands {
		who := fmt.Sprintf("late order/%d", i)
		if c.Do == commandkind.AddShard && own.Chance(who+"/join", lateJoinShare) {
			s.AddFaults(lateJoin(c, own, who))
			continue
		}
		again := slices.ContainsFunc(s.Commands[i:], func(later scenario.Command) bool {
			return later.Do == commandkind.AddShard && later.Name == c.Name
		})
		if c.Do != commandkind.RemoveShard || !again {
			continue
		}
		first := slices.IndexFunc(s.Commands, func(c scenario.Command) bool {
			return c.Do == commandkind.AddShard
		})
		if s.Commands[first].Name == c.Name && own.Chance(who+"/outside", outsideShare) {
			sendOutside(s, c, own, who)
		}
		if !own.Chance(who, lateOrderShare) {
			continue
		}
		s.AddFaults(scenario.Fault{
			Kind:   "duplicate",
			When:   scenario.Trigger{At: c.At},
			Target: "config.*>" + c.Name + ".*",
			Args: []scenario.Setting{
				{Name: "messages", Value: "ShardsvrLeaveCluster"},
				{Name: "copy", Value: "held"},
			},
			Until: &scenario.Trigger{
				Site: failpoint.ConfigAddShard.String(), Nth: 1,
				After: time.Duration(own.IntN(who+"/after", 200)) * time.Millisecond,
			},
		})
	}
}

// sendOutside holds requests to receive until the removed shard has been told to join, and has the
// config server wait from then on before it admits the shard.
func sendOutside(s *scenario.Scenario, c scenario.Command, own keyed.Source, who string) {
	asked := failpoint.ConfigAddShard.String()
	early := time.Duration(own.IntN(who+"/early", 150)) * time.Millisecond
	s.AddFaults(scenario.Fault{
		Kind: "hold", Target: "*>" + c.Name + ".*",
		When:  scenario.Trigger{At: max(0, c.At-early)},
		Args:  []scenario.Setting{{Name: "messages", Value: "RecvChunkStart"}},
		Until: &scenario.Trigger{Site: asked, Nth: 1},
	}, scenario.Fault{
		Kind: "pause", When: scenario.Trigger{Site: asked, Nth: 1},
		For: time.Duration(30+own.IntN(who+"/admitted", 300)) * time.Millisecond,
	})
}
