package oracle

import (
	"cmp"
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
		"has committed it. The one exception: a donor of 4.2 may miss a commit that is written " +
		"after the donor's request for it has returned.",
	Signatures: verdict.Meanings{
		decidedWrongly: "a donor decided otherwise than the config server",
		gaveUpCommitted: "a donor of 4.2 treated a migration as failed whose commit had been " +
			"written before the donor's request for it returned",
		gaveUpUnsure: "a donor of 4.2 treated a migration as failed without a write on the config " +
			"server that would have shown it the commit",
	},
}

var _ = declare(70, decisionRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeDecision, commit: o.judgeGivenUp}
})

const (
	// decidedWrongly is the signature of a decision that is not what the config server has.
	decidedWrongly verdict.Signature = "decision-contradicts-config"
	// gaveUpCommitted is that of a donor of 4.2 that did not make sure: what it reads behind its own
	// write shows every commit that was written before (protocol 4).
	gaveUpCommitted verdict.Signature = "gave-up-a-commit"
	// gaveUpUnsure is the signature of a donor that has not written at all: what it then reads may
	// be older than a commit that no majority has yet.
	gaveUpUnsure verdict.Signature = "gave-up-unsure"
)

// ConfigWrote notes that the config server has acknowledged a write that the node has asked for.
func (o *Oracle) ConfigWrote(node string) { o.assured[node] = o.step }

// judgeGivenUp judges a commit that a majority of the config server has.
func (o *Oracle) judgeGivenUp(w *model.Write) {
	if m := o.moves[w.Migration()]; m != nil && m.gaveUp != 0 {
		o.givenUp(m, w.Step)
	}
}

// giveUp notes that a donor of 4.2 has ended a migration for which it had asked for a commit.
func (o *Oracle) giveUp(e *trace.Event) {
	m := o.move(e.Migration())
	if e.Decision() != trace.Aborted || m.decided != 0 ||
		o.world.Set(e.Shard).Leader != e.Node || m.returned == 0 ||
		m.returnedIn != o.world.Set(e.Shard).Term {
		return
	}
	if m.gaveUp = e.Step; m.committed != 0 {
		o.givenUp(m, m.commit.Step)
	}
	o.unsure(m, e)
}

// leftSection notes whether a donor that leaves its critical section can be sure of the outcome.
func (o *Oracle) leftSection(e *trace.Event) {
	if m := o.moves[e.Migration()]; m != nil && e.Actor == trace.Donor &&
		e.SectionState() == trace.SectionReleased {
		m.sure = o.assured[e.Node] > m.returned
	}
}

// unsure judges a donor that gives up: whatever the answer to its request says, it may answer a
// repetition of a request that has committed (errata E11).
func (o *Oracle) unsure(m *move, e *trace.Event) {
	if m.sure {
		return
	}
	o.report(decisionRule, verdict.Violation{
		Signature: gaveUpUnsure, NS: m.ns,
		Broke: fmt.Sprintf("the donor of migration %s treated it as failed", m.id),
		Because: []string{fmt.Sprintf("its request to commit returned at step %d, and the config "+
			"server acknowledged no write of %s before it left its critical section",
			m.returned, e.Node)},
	}, m.returned)
}

// givenUp: no primary of the config server that lacks the commit has led since, or no majority
// would have it.
func (o *Oracle) givenUp(m *move, written uint64) {
	if written > m.returned {
		return
	}
	o.report(decisionRule, verdict.Violation{
		Signature: gaveUpCommitted, NS: m.ns,
		Broke: fmt.Sprintf("the donor of migration %s treated it as failed at step %d", m.id, m.gaveUp),
		Because: []string{fmt.Sprintf("the config server wrote the commit at step %d, and the "+
			"donor's request returned at step %d", written, m.returned)},
	}, written, m.returned, m.gaveUp)
}

func (o *Oracle) judgeDecision(e *trace.Event) {
	switch e.Kind {
	case trace.CriticalSection:
		o.leftSection(e)
	case trace.MigrationEnded:
		o.giveUp(e)
	case trace.DecisionMade:
		o.judgeDecided(e)
	}
}

func (o *Oracle) judgeDecided(e *trace.Event) {
	m := o.move(e.Migration())
	if o.world.Set(e.Shard).Leader != e.Node {
		if e.Decision() == trace.Aborted {
			m.denied, m.decision = true, cmp.Or(m.decision, e.Step)
		}
		return
	}
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
	if m == nil || !m.aborts() {
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
// over any more. What it has sent before may arrive until it fences the next primary (protocol 15),
// which records once more what it refuses to execute, if something has come between.
func (o *Oracle) neededByNobody(e *trace.Event) bool {
	p := o.primaries[e.Migration()]
	return p != nil && (o.world.Set(p.from).History().IsOver(e) || o.world.Set(e.Shard).Refuses(e))
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
		e.Shard == m.to && slices.Contains(m.promised, e.Shard) && !m.aborts():
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

// isUnfenced reports whether the commit of a migration took effect behind its donor's back.
func (o *Oracle) isUnfenced(id string) bool {
	return slices.ContainsFunc(o.unfenced, func(u damagingCommit) bool { return u.id == id })
}

// lostUnawares reports whether the recipient has lost a part of the range by a commit behind its
// back.
func (o *Oracle) lostUnawares(m *machine) bool {
	return slices.ContainsFunc(o.unfenced, func(u damagingCommit) bool {
		d, former := u.damage, o.moves[u.id]
		return former != nil && former.from == m.to && d.NS == m.ns && d.Min < m.max && m.min < d.Max
	})
}

// noteUnfenced looks at a change of the catalog at the moment it is written: the member that leads
// the donor then, and has read the catalog before, does not know of it. Nor, whether or not one
// leads now, does one that has ended the migration without a commit and has served since. Nor does
// the shard to which the database has moved meanwhile, when an older movePrimary of 4.2 commits
// once more (protocol 15).
func (o *Oracle) noteUnfenced(e *trace.Event) {
	id := e.Migration()
	if p := o.primaries[id]; p != nil {
		if o.movesUnfenced(e, id, p) {
			o.noteDamage(e, e.Chunks[0].Min, e.Chunks[0].Max)
		}
		if p.written == 0 {
			o.noteLeftBehind(e, p)
			o.noteResurrected(e, p)
			o.noteUnmoved(e, p)
		}
		p.written = cmp.Or(p.written, e.Step)
		o.homes[e.NS] = home{id, e.Chunks[0].Shard}
		return
	}
	m := o.moves[id]
	if m == nil {
		return
	}
	commit := *e
	m.commit = &commit
	if m.aborted || !o.holdsSection(m.from, id, m.term) || o.leftSince(m) {
		o.noteDamage(e, m.min, m.max)
	}
}

// movesUnfenced reports whether the commit of a movePrimary that is written now takes effect behind
// the back of the shard that has the database.
func (o *Oracle) movesUnfenced(e *trace.Event, id string, p *primaryMove) bool {
	last := o.homes[e.NS]
	late := last.move != "" && last.move != id && (p.written != 0 || last.shard != p.from)
	return late || !o.holdsSection(p.from, id, 0)
}

// unread reports whether a donor lets writes pass again behind which its commit takes effect: it
// was written before, and when the donor asked for the catalog, after its request had failed, no
// majority had it (H-21).
func (o *Oracle) unread(e *trace.Event) bool {
	m := o.moves[e.Migration()]
	if m == nil || m.commit == nil || e.Actor != trace.Donor || !e.SectionState().Terminal() {
		return false
	}
	knows := o.lookedUp[e.Node+" "+e.NS]
	return knows.owns(m.min) && knows.failed != 0 && knows.failed <= knows.asked &&
		(m.committed == 0 || m.confirmed >= knows.asked)
}

func (o *Oracle) noteUnread(e *trace.Event) {
	if m := o.moves[e.Migration()]; o.unread(e) && !o.isUnfenced(m.id) {
		o.noteDamage(m.commit, m.min, m.max)
	}
}

// commitRequests are by which a donor asks for its commit.
var commitRequests = map[trace.CatalogChange]string{
	trace.ChunkMoved:   commitRequest,
	trace.PrimaryMoved: "CommitMovePrimary",
}

// commitRequest is by which a donor asks for its commit, in both protocols.
const commitRequest = "CommitChunkMigration"

// lookedUp is what a node knows of its shard's ranges, which an answer that says the same leaves as
// it is. Asked is when it sent the last request that was answered, and failed when it last learned
// that a commit had failed; 0 is never.
type lookedUp struct {
	asked, failed int64
	owned         []trace.Chunk
}

func (l *lookedUp) owns(k string) bool { return model.Table(l.owned).Owner(k) != "" }

// lookUp follows what nodes learn of the catalog.
func (o *Oracle) lookUp(e *trace.Event) {
	at := e.Node + " " + e.NS
	now := o.lookedUp[at]
	switch {
	case e.Kind == trace.CallEnded && e.Code() == "":
		now.asked = e.Sent()
	case e.Kind == trace.CallEnded && e.Asked() == commitRequest:
		now.failed = e.At
	case e.Kind == trace.MetadataInstalled:
		now.owned = slices.Clone(e.Chunks)
	case e.Kind == trace.MetadataCleared:
		now.owned = nil
	}
	o.lookedUp[at] = now
}
