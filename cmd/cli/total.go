package cli

import (
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/runner"
)

// total is what the commands of one campaign have done together.
type total struct {
	// Seeds is how many lines of the campaign's journal are counted here.
	Seeds int
	Sum   sums
	// Violations counts the seeds that broke a promise, Diverged those that took another path the
	// second time.
	Violations, Undecided, Repeated, Diverged int
	// Slowest is the seed that took longest, Took how long.
	Slowest uint64
	Took    time.Duration
}

const totalSchema = "shardproof.campaign/1"

// with adds what a command has done so far.
func (t *total) with(s *campaign.Summary) *total {
	all := *t
	all.Sum = newSums()
	if t.Sum.Counters != nil {
		all.Sum.Add(t.Sum.Counters)
	}
	all.Sum.Add(&s.Counters)
	all.Sum.CPU, all.Sum.Wall = t.Sum.CPU+cpuTime(), t.Sum.Wall+s.Wall
	all.Violations, all.Undecided = t.Violations+brokenSeeds(s), t.Undecided+s.Undecided
	all.Repeated, all.Diverged = t.Repeated+s.Repeated, t.Diverged+divergedSeeds(s)
	if s.Took > t.Took {
		all.Slowest, all.Took = s.Slowest, s.Took
	}
	return &all
}

// noSeeds is the summary of a command that ran none.
func noSeeds() *campaign.Summary { return &campaign.Summary{Counters: *runner.NewCounters()} }
