package aimed

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// secondaryLearnShare is how many percent of the seeds with migrations have secondaries pause
// between reading a placement and using it.
const secondaryLearnShare = 15

// inSecondaryLearning are the sites at which a secondary has read a placement and does not use it
// yet. Most pauses are at the last one before it does.
var inSecondaryLearning = []failpoint.Site{
	failpoint.RequestRefreshInstall, failpoint.RequestRefreshInstall,
	failpoint.RequestRefreshInstall, failpoint.RequestSecondaryLearn,
}

// signalLearners pauses secondaries just before they use a placement that they have read. The pause
// is long enough that a donor is likely to tell them meanwhile to forget it (protocol 4 step 8).
// They read it because clients read from them shortly before ranges move.
func signalLearners(own keyed.Source, s *scenario.Scenario) {
	if s.Topology.Members < 2 || len(s.Migrations) == 0 ||
		!own.Chance("secondaries", secondaryLearnShare) {
		return
	}
	for i := range s.Topology.Shards {
		each := own.Fork(uint64(i))
		s.AddFaults(scenario.Fault{
			Kind: "pause",
			When: scenario.Trigger{
				Site: inSecondaryLearning[each.IntN("site", len(inSecondaryLearning))].String(),
				Nth:  1 + each.IntN("pass", 3), Node: scenario.ShardName(i) + ".secondary",
			},
			For: time.Duration(50+each.IntN("for", 400)) * time.Millisecond,
		})
	}
	for i := range s.Migrations[:min(len(s.Migrations), readsBeforeMoves)] {
		readBeforeMove(own.Fork(uint64(0x100+i)), s, &s.Migrations[i])
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// readsBeforeMoves is before how many migrations clients read from secondaries.
const readsBeforeMoves = 8

// readBeforeMove has a client read the collection from secondaries shortly before a range of it
// moves.
func readBeforeMove(own keyed.Source, s *scenario.Scenario, m *scenario.Migration) {
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool { return c.NS == m.NS })
	if i < 0 {
		return
	}
	s.Ops = append(s.Ops, scenario.Op{
		ID: len(s.Ops) + 1, At: max(0, m.At-time.Duration(own.IntN("before", 40))*time.Millisecond),
		Client: own.IntN("client", s.Topology.Clients), NS: m.NS,
		Kind: scenario.Scan, To: int64(s.Collections[i].Keys), Batch: s.Collections[i].Keys,
		Concern: keyed.Pick(own, "concern", "majority", "local"), Prefer: scenario.Secondary,
		Causal: own.Chance("causal", 50),
	})
}
