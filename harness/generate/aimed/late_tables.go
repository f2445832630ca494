package aimed

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
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
