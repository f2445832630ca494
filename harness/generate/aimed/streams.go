package aimed

import (
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// slowOpenings is how many percent of the seeds with change streams have a shard stand still in one
// of its first answers.
const slowOpenings = 50

// slowStreams has shards stand still while they answer a change stream that begins: what it learns
// from them of ranges on their way may be old when it reads on.
func slowStreams(own keyed.Source, s *scenario.Scenario) {
	if len(s.Streams) == 0 || !own.Chance("slow", slowOpenings) {
		return
	}
	s.AddFaults(scenario.Fault{
		Kind: "pause",
		When: scenario.Trigger{
			Site: failpoint.ChangesRead.String(), Nth: keyed.Pick(own, "pass", 1, 1, 2, 3),
		},
		For: time.Duration(20+own.IntN("for", 300)) * time.Millisecond,
	})
}
