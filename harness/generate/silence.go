package generate

import (
	"strconv"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// silenceShare is how many percent of the seeds with faults of several kinds have questions of
// servers that stay without an answer.
const silenceShare = 30

// keepSilent has requests between servers go unanswered that no other fault names: no server may
// take silence for one of the answers.
func keepSilent(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || !own.Chance("silence", silenceShare) {
		return
	}
	questions := faults.Questions(s)
	for i := range 1 + own.IntN("how many", 2) {
		each := own.Fork(uint64(i))
		s.Faults = append(s.Faults, scenario.Fault{
			ID:     len(s.Faults) + 1,
			Kind:   keyed.Pick(each, "kind", "lost-request", "lost-request", "lost-reply"),
			Target: "*>*",
			When:   scenario.Trigger{At: time.Duration(each.IntN("from", int(p.size.span)))},
			Args: []scenario.Setting{
				{Name: "messages", Value: keyed.Pick(each, "question", questions...)},
				{Name: "count", Value: strconv.Itoa(1 + each.IntN("count", 6))},
			},
			For: p.size.span / 2,
		})
	}
}
