package aimed

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// leftBehindShare is how many percent of the seeds with reads of secondaries have some that are
// left so far behind that they get a copy of everything.
const leftBehindShare = 30

// tooShort is how many entries the logs keep, so that they do not reach back to before a cut.
const tooShort = "12"

// leaveBehind cuts secondaries of donors off for longer than the logs of the others reach back:
// what would have told them of a migration, entry by entry, they never see.
func leaveBehind(own keyed.Source, s *scenario.Scenario) {
	weak := slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
		return o.Prefer == scenario.Secondary
	})
	if !weak || !own.Chance("left behind", leftBehindShare) {
		return
	}
	s.Set(scenario.Setting{Name: "oplogMinRetentionEntries", Value: tooShort})
	for i := range 1 + own.IntN("how many", 3) {
		who := fmt.Sprintf("left behind/%d", i)
		s.AddFaults(scenario.Fault{
			Kind: "partition", Target: "donor.secondary",
			When: scenario.Trigger{
				Site: failpoint.DonorSendStart.String(), Nth: 1 + own.IntN(who+"/pass", 5),
			},
			For: time.Duration(100+own.IntN(who+"/for", 500)) * time.Millisecond,
		})
	}
}
