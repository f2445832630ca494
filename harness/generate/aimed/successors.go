package aimed

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// successorShare is how many percent of the seeds with faults of several kinds have a copy of an
// early message come to a recipient's next primary.
const successorShare = 16

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
	step := scenario.Trigger{
		Site: handingOver[own.IntN("site", len(handingOver))].String(),
		Nth:  keyed.Pick(own, "reaching", 1, 1, 1, 2, 3),
	}
	copied := lateCopies(keyed.Pick(own, "message", "RecvChunkStart", "RecvChunkStart",
		"RecvChunkCommit", "control"), 40, step)
	deposed, comes := deposeMeanwhile(own, step, "recipient.primary")
	copied.Until.After = comes
	s.AddFaults(copied, deposed)
}
