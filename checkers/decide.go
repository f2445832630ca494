package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
)

// decision is decision.
var decision = Checker{
	Name: "decision",
	Promise: "A donor decides that a migration is committed if, and only if, the config server " +
		"has committed it.",
}

// DecidedWrongly is the signature of a decision that is not what the config server has.
const DecidedWrongly = "decision-contradicts-config"

func (o *Oracle) judgeDecision(e *trace.Event) {
	if e.Kind != trace.DecisionMade || o.world.Set(e.Shard).Leader != e.Node {
		return
	}
	m := o.move(e.ID)
	if committed := m.committed != 0; committed != (e.Value == "committed") {
		o.report(decision, Violation{
			Signature: DecidedWrongly, NS: m.ns,
			Broke:   fmt.Sprintf("%s decided that migration %s is %s", e.Node, e.ID, e.Value),
			Because: []string{fmt.Sprintf("the config server %s", outcome(m))},
		}, m.committed)
	}
	m.decided, m.decision = e.Value, e.Step
}

func outcome(m *move) string {
	if m.committed == 0 {
		return "has not committed it"
	}
	return fmt.Sprintf("committed it at step %d", m.committed)
}
