package aimed

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// pullShare is how many percent of the seeds with faults of several kinds have donors fail as they
// hand over documents, changes or the history of sessions.
const pullShare = 12

// inPulls are where a donor has taken something out of what it is to hand over, or is about to.
var inPulls = []failpoint.Site{
	failpoint.DonorServeClone, failpoint.DonorServeSplice, failpoint.DonorServeRead,
	failpoint.DonorServeRead, failpoint.DonorServePushback, failpoint.DonorServeSessions,
	failpoint.SessionSourceScan,
}

// failPulls has donors fail, while they serve a recipient, in a way in which it asks for the same
// once more: it must get what it would have got.
func failPulls(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("pulls", pullShare) {
		return
	}
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		site := inPulls[each.IntN("site", len(inPulls))]
		s.AddFaults(scenario.Fault{
			Kind: "error",
			When: scenario.Trigger{Site: site.String(), Nth: 1 + each.IntN("pass", 5)},
			Args: []scenario.Setting{{
				Name: "code", Value: keyed.Pick(each, "code", "NetworkTimeout", "HostUnreachable"),
			}},
		})
	}
}
