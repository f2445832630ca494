package aimed

import (
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// successorShare is how many percent of the seeds with faults of several kinds have a copy of an
// early message come to a recipient's next primary, longestKept how long it is kept at most.
const (
	successorShare = 16
	longestKept    = 3 * time.Second
)

// handingOver is where a donor has handed over and the config server does not know yet.
var handingOver = []failpoint.Site{
	failpoint.DonorAfterCommit, failpoint.DonorBlockReads, failpoint.DonorBuildCommit,
	failpoint.DonorSendConfig,
}

// repeatToSuccessors has a donor stand still when it has handed over, while its recipient gets a
// new primary, or has the same one in a new term; to that come copies of what was sent first, by
// this donor or earlier ones.
func repeatToSuccessors(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("to a successor", successorShare) {
		return
	}
	pass := keyed.Pick(own, "reaching", 1, 1, 1, 2, 3)
	site := handingOver[own.IntN("site", len(handingOver))].String()
	still := time.Duration(500+own.IntN("still", 1000)) * time.Millisecond
	s.AddFaults(scenario.Fault{
		Kind: "duplicate", Target: "*>*",
		Args: []scenario.Setting{
			{Name: "messages", Value: keyed.Pick(own, "message", "RecvChunkStart", "RecvChunkStart",
				"RecvChunkCommit", "control")},
			{Name: "copy", Value: "held"}, {Name: "count", Value: "40"},
		},
		For: longestKept,
		Until: &scenario.Trigger{
			Site: site, Nth: pass, After: still * time.Duration(30+own.IntN("comes", 65)) / 100,
		},
	}, scenario.Fault{
		Kind: "stale-task",
		When: scenario.Trigger{Site: site, Nth: pass}, For: still,
		Args: []scenario.Setting{
			{Name: "party", Value: "recipient.primary"},
			{Name: "ending", Value: keyed.Pick(own, "ending", "again", "again", "crash", "stepdown")},
		},
	})
}
