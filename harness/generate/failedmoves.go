package generate

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
func failPrimaries(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || s.Protocol == "4.2" {
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
		s.Faults = append(s.Faults, scenario.Fault{
			ID: len(s.Faults) + 1, Kind: "error",
			When: scenario.Trigger{Site: site.String(), Nth: max(1, i+1-own.IntN(who+"/pass", 2))},
		}, scenario.Fault{
			ID: len(s.Faults) + 2, Kind: "duplicate",
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
