package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// decisionRule is decision.
var decisionRule = verdict.Checker{
	Name: "decision",
	Promise: "A donor decides that a migration is committed if, and only if, the config server " +
		"has committed it.",
	Signatures: verdict.Meanings{
		decidedWrongly: "a donor decided otherwise than the config server",
	},
}

var _ = declare(70, decisionRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeDecision}
})

// decidedWrongly is the signature of a decision that is not what the config server has.
const decidedWrongly verdict.Signature = "decision-contradicts-config"

func (o *Oracle) judgeDecision(e *trace.Event) {
	if e.Kind != trace.DecisionMade || o.world.Set(e.Shard).Leader != e.Node {
		return
	}
	m := o.move(e.Migration())
	if committed := m.committed != 0; committed != (e.Decision() == trace.Committed) {
		o.report(decisionRule, verdict.Violation{
			Signature: decidedWrongly, NS: m.ns,
			Broke:   fmt.Sprintf("%s decided that migration %s is %s", e.Node, m.id, e.Decision()),
			Because: []string{fmt.Sprintf("the config server %s", outcome(m))},
		}, m.committed)
	}
	m.decided, m.decision = e.Decision(), e.Step
}

func outcome(m *move) string {
	if m.committed == 0 {
		return "has not committed it"
	}
	return fmt.Sprintf("committed it at step %d", m.committed)
}
