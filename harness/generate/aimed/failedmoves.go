package aimed

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// failedMoves is how many percent of the moves of a primary fail and are made once more, with the
// drop of what the first one copied coming late.
const failedMoves = 25

// failing is where a move of a primary fails and leaves a copy behind.
var failing = []failpoint.Site{
	failpoint.MovePrimaryCloneBatch, failpoint.MovePrimaryChecked,
	failpoint.MovePrimaryBlockWrites, failpoint.MovePrimarySessions,
	failpoint.MovePrimaryBlockReads,
}

// failPrimaries has moves of a primary fail and made once more to the same shard, in scenarios that
// may have faults of any kind. A copy of the order to drop what the failed one has copied comes
// when the next one has been committed.
func failPrimaries(own keyed.Source, s *scenario.Scenario) {
	if s.Protocol == "4.2" {
		return
	}
	for i, m := range slices.Clone(s.Primaries) {
		who := fmt.Sprintf("primary/%d", m.ID)
		if !own.Chance(who+"/fails", failedMoves) {
			continue
		}
		again := m
		again.ID = len(s.Primaries) + 1
		again.At += time.Duration(60+own.IntN(who+"/again", 400)) * time.Millisecond
		s.Primaries = append(s.Primaries, again)
		site := failing[own.IntN(who+"/site", len(failing))]
		s.AddFaults(scenario.Fault{
			Kind: "error",
			When: scenario.Trigger{Site: site.String(), Nth: max(1, i+1-own.IntN(who+"/pass", 2))},
		}, scenario.Fault{
			Kind:   "duplicate",
			When:   scenario.Trigger{At: m.At},
			Target: "*>" + scenario.ShardName(m.To) + ".*",
			Args: []scenario.Setting{
				{Name: "messages", Value: "DropClonedData"}, {Name: "copy", Value: "held"},
			},
			Until: &scenario.Trigger{
				Site: failpoint.MovePrimaryCommitReply.String(), Nth: 1, // after the move has begun
				After: time.Duration(own.IntN(who+"/after", 200)) * time.Millisecond,
			},
		})
	}
	slices.SortStableFunc(s.Primaries, func(a, b scenario.MovePrimary) int {
		return cmp.Compare(a.At, b.At)
	})
}

// lostCommits is how many percent of the moves of a primary of 4.2 learn late, or not at all, what
// has become of their commit.
const lostCommits = 35

// loseCommits keeps donors of 4.2 from learning whether their movePrimary has committed, in
// scenarios that may have faults of any kind: the replies are lost, and the writes by which the
// donor would find out are held. Some donors also step down at about that time, and the first
// recovery is slow, so that a later move may meet it.
func loseCommits(own keyed.Source, s *scenario.Scenario) {
	if s.Protocol != "4.2" {
		return
	}
	for i := range s.Primaries {
		each := own.Fork(uint64(i))
		if !each.Chance("lost", lostCommits) {
			continue
		}
		committing := scenario.Trigger{Site: failpoint.MovePrimaryBlockReads.String(), Nth: i + 1}
		lost := time.Duration(100+each.IntN("lost for", 1200)) * time.Millisecond
		s.AddFaults(scenario.Fault{
			Kind: "lost-reply", Target: "*>config.*", When: committing, For: lost,
			Args: []scenario.Setting{
				{Name: "messages", Value: "CommitMovePrimary"}, {Name: "count", Value: "20"},
			},
		}, scenario.Fault{
			Kind: "hold", Target: "*>config.*", When: committing,
			For: lost + time.Duration(each.IntN("found out", 300))*time.Millisecond,
			Args: []scenario.Setting{
				{Name: "messages", Value: "LogChange"},
			},
		})
		if each.Chance("deposed", 40) {
			deposeCommitter(each, s, committing)
		}
	}
}

// deposeCommitter has a donor step down at about the time of its commit, and the first recovery be
// slow to find out what has become of that.
func deposeCommitter(own keyed.Source, s *scenario.Scenario, committing scenario.Trigger) {
	committing.After = time.Duration(5+own.IntN("deposed", 100)) * time.Millisecond
	s.AddFaults(scenario.Fault{
		Kind: "stepdown", Target: "donor.primary", When: committing,
	}, scenario.Fault{
		Kind: "pause",
		When: scenario.Trigger{Site: failpoint.RecoveryComplete.String(), Nth: 1},
		For:  time.Duration(100+own.IntN("finds out", 600)) * time.Millisecond,
	})
}

// unsettledShare is the percentage of seeds of 4.2 with migrations in which a migration fails just
// as its donor is about to find out what has become of the commit.
const unsettledShare = 20

// failToSettle has migrations of 4.2 fail between their commit and the refresh after it: a donor
// that does not know what it owns must own nothing.
func failToSettle(own keyed.Source, s *scenario.Scenario) {
	if s.Protocol != "4.2" || len(s.Migrations) == 0 || !own.Chance("unsettled", unsettledShare) {
		return
	}
	for i := range 1 + own.IntN("how many", 2) {
		each := own.Fork(uint64(i))
		s.AddFaults(scenario.Fault{
			Kind: keyed.Pick(each, "kind", "error", "kill-operation"),
			When: scenario.Trigger{
				Site: failpoint.DonorPostRefresh.String(), Nth: 1 + each.IntN("pass", 4),
			},
		})
	}
}
