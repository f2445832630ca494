package aimed

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// takeoverShare is how many percent of the seeds with faults of several kinds have commands given
// to a primary that has still to find out what its predecessor has left; of those with a
// movePrimary, three times as many.
const takeoverShare = 15

// predecessors are the parties that are deposed.
var predecessors = []string{
	"donor.primary", "donor.primary", "recipient.primary", "config.primary",
}

// recoverySite is where the successor of a party finds out what there is to be recovered.
func recoverySite(own keyed.Source, party, protocol string) string {
	sites := []failpoint.Site{
		failpoint.RecoveryBarrier, failpoint.RecoveryConfigWrite, failpoint.RecoveryComplete,
	}
	switch {
	case party == "config.primary":
		sites = []failpoint.Site{failpoint.ConfigRecoverMigrations, failpoint.BalancerStepUp}
	case protocol != "4.2":
		sites = nil
		for _, in := range failpoint.All() {
			if in.Role == failpoint.Recovery && in.Site != failpoint.RecoveryConfigWrite {
				sites = append(sites, in.Site)
			}
		}
	}
	return sites[own.IntN("recovery", len(sites))].String()
}

// commandTakeovers deposes a primary in the middle of a migration, and has its successor stand
// still in a recovery while the next command, migration or movePrimary is requested early.
func commandTakeovers(own keyed.Source, s *scenario.Scenario) {
	share := takeoverShare
	if len(s.Primaries) > 0 { // few seeds have a movePrimary that meets a recovery
		share *= 3
	}
	if len(s.Migrations)+len(s.Primaries) == 0 || !own.Chance("takeovers", share) {
		return
	}
	for i := range 1 + own.IntN("how many", 2) {
		takeOver(own.Fork(uint64(i)), s)
	}
	moveOnceMore(own.Fork(0x10), s)
}

// takeOver is one such change of primaries. What is requested early is whatever comes next: where a
// movePrimary is to meet the recovery, several requests are.
func takeOver(own keyed.Source, s *scenario.Scenario) {
	deposed := depose(own, s)
	recovery := scenario.Fault{
		Kind: "early-command",
		When: scenario.Trigger{
			Site: recoverySite(own, deposed.Target, s.Protocol),
			Nth:  keyed.Pick(own, "recovery pass", 1, 1, 1, 2, 3), Node: deposed.When.Node,
		},
		For: time.Duration(50+own.IntN("stands", 800)) * time.Millisecond,
	}
	s.AddFaults(deposed)
	if len(s.Primaries) > 0 {
		recovery.For = longestTakeover
		recovery.Until = &scenario.Trigger{
			Site: meetingRecoveries[own.IntN("until", len(meetingRecoveries))].String(), Nth: 1,
		}
		s.AddFaults(recovery, recovery)
	}
	s.AddFaults(recovery)
}

// longestTakeover is how long a recovery stands still at most for what meets it, which is one of
// meetingRecoveries.
const longestTakeover = 1500 * time.Millisecond

var meetingRecoveries = []failpoint.Site{
	failpoint.MovePrimaryCommitRequest, failpoint.MovePrimaryCommitRequest,
	failpoint.MovePrimaryCommitReply, failpoint.MovePrimaryBlockWrites, failpoint.MovePrimaryClone,
}

// depose ends the term of a party in the middle of what it does. In 4.2 a movePrimary and the
// recovery of its shard's primary go by the same count of commits (protocol 2.2), so that most of
// the time the donor of a movePrimary, if those before it succeed, is deposed as it commits a
// migration.
func depose(own keyed.Source, s *scenario.Scenario) scenario.Fault {
	f := scenario.Fault{
		Kind:   keyed.Pick(own, "kind", "stepdown", "stepdown", "crash"),
		Target: keyed.Pick(own, "party", predecessors...),
		When: scenario.Trigger{
			Site: stepOf(own, s), Nth: keyed.Pick(own, "pass", 1, 1, 2, 3),
			After: time.Duration(own.IntN("after", 40)) * time.Millisecond,
		},
	}
	if s.Protocol == "4.2" && own.Chance("counted", 70) {
		f.When.Site = countedAt[own.IntN("counted at", len(countedAt))].String()
		if n := len(s.Primaries); n > 0 {
			m := s.Primaries[own.IntN("which primary", n)]
			donor := scenario.ShardName(primaryAt(s, m.Database, m.At))
			f.Target, f.When.Node = donor+".primary", donor+".*"
		}
	}
	if f.Kind == "crash" {
		f.For = time.Duration(20+own.IntN("down", 400)) * time.Millisecond
	}
	return f
}

// countedAt is where a donor of 4.2 has counted its commit.
var countedAt = []failpoint.Site{
	failpoint.DonorSendCommit, failpoint.DonorAfterCommit, failpoint.DonorSendConfig,
}

// moveOnceMore adds a movePrimary where there are some.
func moveOnceMore(own keyed.Source, s *scenario.Scenario) {
	if len(s.Primaries) == 0 || s.Topology.Shards < 2 {
		return
	}
	again := s.Primaries[own.IntN("which", len(s.Primaries))]
	again.ID = len(s.Primaries) + 1
	again.To = own.IntN("to", s.Topology.Shards)
	again.At += time.Duration(20+own.IntN("again", 400)) * time.Millisecond
	s.Primaries = append(s.Primaries, again)
	slices.SortStableFunc(s.Primaries, func(a, b scenario.MovePrimary) int {
		return cmp.Compare(a.At, b.At)
	})
}
