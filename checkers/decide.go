package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/truth"
	"github.com/shardproof/shardproof/histories/event"
)

// decision is K-DECIDE, fencing K-FENCE.
var (
	decision = Checker{
		Name:    "K-DECIDE",
		Promise: "What a donor decides about a migration is what the config server committed: never committed there and aborted here, nor the reverse.",
	}
	fencing = Checker{
		Name:    "K-FENCE",
		Promise: "After a migration is decided nothing of it happens any more: no late commit, no late copy.",
	}
)

// The signatures of decision and fencing violations.
const (
	DecidedWrongly = "decision-against-config"
	LateCommit     = "commit-after-abort"
	LateCopy       = "copy-after-commit"
)

func (o *Oracle) judgeDecision(e *event.Event) {
	if e.Kind != event.DecisionMade || o.world.Set(e.Shard).Leader != e.Node {
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

// judgeLateCommit judges a commit that a majority of the config server has.
func (o *Oracle) judgeLateCommit(w *truth.Write) {
	m := o.moves[w.Migration()]
	if m == nil || m.decided != "aborted" {
		return
	}
	o.report(fencing, Violation{
		Signature: LateCommit, NS: w.NS,
		Broke:   fmt.Sprintf("the config server committed migration %s", m.id),
		Because: []string{fmt.Sprintf("its donor had decided at step %d that it is aborted", m.decision)},
	}, m.decision, w.Step)
}

// judgeFencing: once its migration has committed, a recipient copies nothing any more; what it copies then may undo what
// clients write to it as the owner.
func (o *Oracle) judgeFencing(e *event.Event) {
	if e.Kind != event.Applied || e.Actor != event.Recipient || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	m := o.moves[e.ID]
	if m == nil || m.committed == 0 {
		return
	}
	o.report(fencing, Violation{
		Signature: LateCopy, NS: e.NS, Key: o.show(e.Key),
		Broke:   fmt.Sprintf("%s copied key %s for migration %s", e.Node, o.show(e.Key), e.ID),
		Because: []string{fmt.Sprintf("the migration had committed at step %d", m.committed)},
	}, m.committed)
}
