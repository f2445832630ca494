package aimed

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// lateTablesShare is how many percent of the seeds with migrations have routing tables that are
	// long on their way.
	lateTablesShare = 12
	// lateTablesWithin is from when to when after the request for a migration that begins at most.
	lateTablesWithin = 150
)

// delayTables has what the config server answers to those who read a routing table come late while
// ranges move: by then it says what was, and who goes on by it must notice, or must have made sure
// that nothing has changed meanwhile.
func delayTables(own keyed.Source, s *scenario.Scenario) {
	if len(s.Migrations) == 0 || !own.Chance("tables", lateTablesShare) {
		return
	}
	ms := func(question string, least, most int) time.Duration {
		return time.Duration(least+own.IntN(question, most-least)) * time.Millisecond
	}
	for i := range keyed.Pick(own, "times", 1, 2, 4) {
		who := fmt.Sprintf("times/%d/", i)
		m := &s.Migrations[own.IntN(who+"move", len(s.Migrations))]
		s.AddFaults(scenario.Fault{
			Kind: "slow-link", Target: "config.*>*",
			When: scenario.Trigger{At: m.At + ms(who+"at", 0, lateTablesWithin)},
			For:  ms(who+"for", 40, 300),
			Args: []scenario.Setting{
				{Name: "delay", Value: ms(who+"delay", 10, 250).String()},
				{Name: "messages", Value: "GetRoutingTable"},
			},
		})
	}
}

// learnShare is how many percent of the seeds whose replica sets have three members or more have
// primaries learn of placements while another member takes over.
const learnShare = 12

// inLearning are where a primary reads a routing table, uses what it has read, or writes it down
// for its secondaries.
var inLearning = []failpoint.Site{
	failpoint.RequestRefreshFetch, failpoint.RequestRefreshFetch, failpoint.RequestRefreshInstall,
	failpoint.RequestCacheBatch,
}

// learnReplaced has a primary stand still as it learns of a placement, and another member take over
// meanwhile, of which it does not hear: what it learns then, its successor may have received.
func learnReplaced(own keyed.Source, s *scenario.Scenario) {
	if s.Topology.Members < 3 || !own.Chance("learns", learnShare) {
		return
	}
	for i := range 2 + own.IntN("how many", 2) {
		each := own.Fork(uint64(i))
		primary := scenario.ShardName(each.IntN("shard", s.Topology.Shards)) + ".primary"
		at := scenario.Trigger{
			Site: inLearning[each.IntN("site", len(inLearning))].String(),
			Nth:  1 + each.IntN("pass", 8), Node: primary,
		}
		s.AddFaults(scenario.Fault{
			Kind: "superseded", Target: primary, When: at,
			Args: []scenario.Setting{{Name: "answers", Value: "held"}},
			For:  time.Duration(600+each.IntN("held", 900)) * time.Millisecond,
		}, scenario.Fault{
			Kind: "pause", When: at, For: time.Duration(50+each.IntN("for", 500)) * time.Millisecond,
		})
	}
}
