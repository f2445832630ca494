package generate

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// onceShare is how many percent of the seeds with several migrations have clients whose writes are
// not retryable.
const onceShare = 6

// sendOnce has clients send every write once and without a session, as drivers do that were told
// so.
func sendOnce(s *scenario.Scenario, d keyed.Source, z size) {
	if z.moves > 1 && d.Fork(0x7f).Chance("writes are sent once", onceShare) {
		s.Set(scenario.Setting{Name: "retryWrites", Value: "0"})
	}
}
