package search

import (
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// newPriorities gives chains of messages priorities: some are slower than others by a drawn amount,
// and a few messages make the chain they belong to slower still. It is probabilistic concurrency
// testing with messages in place of threads, as in a world of latencies there is mostly but one
// task that could run. Half of the seeds have no other faults.
func newPriorities(s Start) Strategy {
	return newDrawn(s, func(seed uint64) *scenario.Scenario {
		return withPriorities(seed, s.Protocol)
	})
}

// How many chains are slow, by how much, and how many messages of a hundred thousand or so change
// that.
var (
	slowChains     = []string{"50000", "200000", "500000"}
	chainDelays    = []string{"3ms", "15ms", "60ms", "250ms"}
	demotionShares = []string{"0", "300", "1000", "3000"}
)

func withPriorities(seed uint64, protocol string) *scenario.Scenario {
	roll := keyed.New(seed ^ 0x9c7).IntN
	s := baseOf("pct", seed, protocol)
	if roll("faults", 2) == 0 {
		s = withName("pct", generate.MixedOf(seed, protocol))
	}
	s.Planned = false
	one := func(of []string, question string) string { return of[roll(question, len(of))] }
	s.Set(
		scenario.Setting{Name: "sim.net.slowChainsPerMillion", Value: one(slowChains, "chains")},
		scenario.Setting{Name: "sim.net.slowChainDelay", Value: one(chainDelays, "delay")},
		scenario.Setting{
			Name:  "sim.net.priorityChangesPerMillion",
			Value: one(demotionShares, "demotions"),
		})
	return s
}
