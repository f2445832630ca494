package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
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

// fencingRule is fencing. What was decided may still be on its way to those who take part; but once
// a donor has completed a migration, everyone who could still do something for it was fenced
// (protocol 9.1, 9.3).
var fencingRule = verdict.Checker{
	Name: "fencing",
	Promise: "Once a migration is decided, nothing happens that contradicts the decision, and " +
		"once it has ended, nothing happens for it at all: no late commit, clone, session " +
		"history or state change by any participant, and no deletion against the decision or " +
		"by a task that is done.",
	Signatures: verdict.Meanings{
		lateCommit:   "the config server committed what the donor had decided to abort",
		lateCopy:     "a recipient copied a document after the outcome was final",
		lateHistory:  "a recipient recorded session history after the outcome was final",
		lateState:    "a recipient changed state after the end of its migration",
		lateDonor:    "a donor changed state after its decision",
		lateSection:  "a critical section was entered after the end of its migration",
		lateDeletion: "documents were deleted for a task that had been removed",
		wrongCleanup: "documents were deleted on the shard that keeps them",
	},
}

var _ = declare(80, fencingRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeFencing, commit: o.judgeLateCommit}
})

// The signatures of fencing violations.
const (
	lateCommit   verdict.Signature = "commit-after-abort"
	lateCopy     verdict.Signature = "clone-after-commit"
	lateHistory  verdict.Signature = "session-history-after-end"
	lateState    verdict.Signature = "state-change-after-end"
	lateDonor    verdict.Signature = "donor-state-after-decision"
	lateSection  verdict.Signature = "critical-section-after-end"
	lateDeletion verdict.Signature = "deletion-after-task-end"
	wrongCleanup verdict.Signature = "deletion-against-decision"
)

// judgeLateCommit judges a commit that a majority of the config server has.
func (o *Oracle) judgeLateCommit(w *model.Write) {
	m := o.moves[w.Migration()]
	if m == nil || m.decided != trace.Aborted {
		return
	}
	o.report(fencingRule, verdict.Violation{
		Signature: lateCommit, NS: w.NS,
		Broke:   fmt.Sprintf("the config server committed migration %s", m.id),
		Because: []string{fmt.Sprintf("its donor had decided at step %d to abort it", m.decision)},
	}, m.decision, w.Step)
}

// judgeFencing looks at what leaders do for migrations that are decided or over. A deposed leader
// may believe and write what it likes: nobody will have it.
func (o *Oracle) judgeFencing(e *trace.Event) {
	m := o.moves[e.Migration()]
	if m == nil || o.world.Set(e.Shard).Leader != e.Node {
		return
	}
	switch e.Kind {
	case trace.Applied:
		o.judgeLateWrite(e, m)
	case trace.Executed:
		if m.final() != 0 && o.world.Set(e.Shard).Leads(e) && !o.neededByNobody(e) {
			o.late(e, m, lateHistory,
				fmt.Sprintf("%s recorded statement %d of session %s for migration %s",
					e.Node, e.Statement(), e.Session(), m.id))
		}
	case trace.DonorAdvanced:
		if m.decided != 0 && !e.DonorState().Terminal() {
			o.late(e, m, lateDonor,
				fmt.Sprintf("%s moves migration %s on to state %s", e.Node, m.id, e.State()))
		}
	case trace.RecipientAdvanced:
		if m.ended != 0 && e.RecipientState().Open() {
			o.late(e, m, lateState,
				fmt.Sprintf("%s moves migration %s on to state %s", e.Node, m.id, e.State()))
		}
	case trace.CriticalSection:
		if m.ended != 0 && !e.SectionState().Terminal() {
			o.late(e, m, lateSection,
				fmt.Sprintf("%s enters the critical section of migration %s as its %s",
					e.Node, m.id, e.Actor))
		}
	}
}

// neededByNobody: when its client has gone on, the primary of a database does not hand a statement
// over any more. What it has sent before may arrive until it fences the next primary (protocol 15).
func (o *Oracle) neededByNobody(e *trace.Event) bool {
	p := o.primaries[e.Migration()]
	return p != nil && o.world.Set(p.from).History().IsOver(e)
}

// judgeLateWrite: once its migration has committed, a recipient copies nothing any more, as that
// may undo what clients write to it as the owner; and the range deleter works for the decision
// only.
func (o *Oracle) judgeLateWrite(e *trace.Event, m *move) {
	if !o.world.Set(e.Shard).Leads(e) {
		return
	}
	switch {
	case e.Actor == trace.Recipient && m.final() != 0:
		o.late(e, m, lateCopy,
			fmt.Sprintf("%s copied key %s for migration %s", e.Node, o.show(e.Key), m.id))
	case e.Actor != trace.RangeDeleter || m.to == "" || o.drops[m.ns] > m.began:
	case slices.Contains(m.cleaned, e.Shard):
		o.late(e, m, lateDeletion,
			fmt.Sprintf("%s deleted key %s for the task of migration %s, which it had removed",
				e.Node, o.show(e.Key), m.id))
	case e.Shard == m.from && m.committed == 0,
		e.Shard == m.to && slices.Contains(m.promised, e.Shard) && m.decided != trace.Aborted:
		o.late(e, m, wrongCleanup, fmt.Sprintf("%s deleted key %s for migration %s, from %s to %s",
			e.Node, o.show(e.Key), m.id, m.from, m.to))
	}
}

// final is the step from which on a migration cannot have effects on its recipient, 0 while it can.
func (m *move) final() uint64 {
	if m.committed != 0 {
		return m.committed
	}
	return m.ended
}

func (o *Oracle) late(e *trace.Event, m *move, signature verdict.Signature, broke string) {
	v := verdict.Violation{
		Signature: signature,
		NS:        m.ns,
		Broke:     broke,
		Because:   []string{"the config server " + outcome(m)},
	}
	if e.Kind == trace.Applied {
		v.Key = o.show(e.Key)
	}
	if m.decided != 0 {
		v.Because = append(v.Because,
			fmt.Sprintf("its donor had decided at step %d that it is %s", m.decision, m.decided))
	}
	if m.ended != 0 {
		v.Because = append(v.Because, fmt.Sprintf("it had ended at step %d", m.ended))
	}
	o.report(fencingRule, v, m.committed, m.decision, m.ended)
}
