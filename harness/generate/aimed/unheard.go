package aimed

import (
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// unheardShare is how many percent of the seeds with faults of several kinds have donors that reach
// neither their recipient nor the config server.
const unheardShare = 6

// owedToRecipients is what a donor repeats until the recipient has answered, or is known to be no
// shard any more.
var owedToRecipients = []failpoint.Site{
	failpoint.DonorAbortBumpTxn, failpoint.DonorAbortBumpTxn, failpoint.DonorAbortReady,
	failpoint.DonorBumpTxn, failpoint.DonorFetchOrphans, failpoint.DonorDeleteTheirTask,
}

// hearNobody takes the recipient and the config server away as a donor has still to tell the first
// something: that nobody says whether it is a shard does not mean that it is none.
func hearNobody(own keyed.Source, s *scenario.Scenario) {
	if len(s.Migrations) == 0 || !own.Chance("unheard", unheardShare) {
		return
	}
	when := scenario.Trigger{
		Site: owedToRecipients[own.IntN("site", len(owedToRecipients))].String(),
		Nth:  1 + own.IntN("pass", 2),
	}
	down := time.Duration(50+own.IntN("down", 600)) * time.Millisecond
	for _, target := range []string{"recipient.*", "config.*"} {
		s.AddFaults(scenario.Fault{Kind: "power-loss", Target: target, When: when, For: down})
	}
}
