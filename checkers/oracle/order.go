package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// orderRule is order (protocol 4, 5.1, 5.2, 9.1, 11).
var orderRule = verdict.Checker{
	Name: "order",
	Promise: "The donor, the recipient and the config server go through the states of a move in " +
		"order, and none enters a state before the others have reached what it depends on.",
	Signatures: verdict.Meanings{
		stateSkipped: "a donor, a recipient or a movePrimary entered a state that does not " +
			"follow the one before",
		stateTooEarly: "a state was entered before the other side had reached the one that it " +
			"rests on",
		overlapIgnored: "a migration went on while an earlier deletion of its range was on record",
		taskTooEarly:   "a range deletion was made ready against the decision, or before it",
		endedTooEarly:  "a migration ended before its range deletions were settled",
		abortedTooEarly: "a donor decided to abort while the config server could still commit " +
			"the migration",
		moveUnfinished: "a database began to move to a shard that had not finished moving it " +
			"away before",
		timeNotKept: "a move went on although the next primary of one of its shards may read " +
			"the catalog from before the commit",
		notedTooEarly: "the recipient of a movePrimary noted the arrival while clients still " +
			"wrote on the donor",
		notNoted: "the recipient of a movePrimary had copied the collections without noting their " +
			"arrival, so that a resumed change stream may miss what happened before",
		forgotRange: "the recipient of a migration forgot the range that it had received before " +
			"the commit, so that a cleanup may delete it",
		begunTooLate: "a donor let a recipient begin after it had blocked writes, so that a late " +
			"start deletes what was received",
		fencedTooEarly: "a donor fenced a migration, to end it, before the recipient had released " +
			"its critical section",
	},
}

var _ = declare(85, orderRule, func(o *Oracle) hooks {
	r := &order{
		Oracle:      o,
		pairs:       map[string]*pair{},
		phases:      map[string]trace.PrimaryMovePhase{},
		commitTimes: map[string]uint64{},
		passed:      map[string]trace.PrimaryMovePhase{},
		tasks:       map[string][]deletion{},
		arriving:    map[string]*primaryMove{},
		starts:      map[startedAs]start{},
		sessions:    map[string]string{},
		released:    map[string]bool{},
	}
	o.order = r
	return hooks{event: r.judge}
})

// The signatures of steps out of order.
const (
	stateSkipped    verdict.Signature = "state-skipped"
	stateTooEarly   verdict.Signature = "state-too-early"
	overlapIgnored  verdict.Signature = "overlapping-deletion-ignored"
	taskTooEarly    verdict.Signature = "deletion-ready-too-early"
	endedTooEarly   verdict.Signature = "ended-before-cleanup"
	abortedTooEarly verdict.Signature = "abort-while-commit-possible"
)

// order is the memory of orderRule.
type order struct {
	*Oracle
	pairs map[string]*pair
	// phases is how far each movePrimary has come, tasks the range deletions that shards have on
	// record.
	phases map[string]trace.PrimaryMovePhase
	// passed are the phases that a primary has entered which was deposed and did not know it.
	passed map[string]trace.PrimaryMovePhase
	tasks  map[string][]deletion
	// newest and kept are those of ConfigTimes; commitTimes are the cluster times at which moves
	// were committed.
	newest, kept func(node string) uint64
	// unfinished is that of UnfinishedMoves.
	unfinished  func(node, database string) string
	commitTimes map[string]uint64
	// onRecord is that of CommitsOnRecord.
	onRecord   func(node string) (known uint64, counted bool)
	uninformed []uninformed
	// arriving is, by donor and database, the move whose arrival was noted last.
	arriving map[string]*primaryMove
	// receiving is that of ReceivedRanges.
	receiving func(node, ns, min, max string) bool
	// starts are migrations by what their donors fence them with, sessions by the names of their
	// sessions; released are those whose recipient has answered that it has released its critical
	// section.
	starts   map[startedAs]start
	sessions map[string]string
	released map[string]bool
}

// deletion is a task on record since a step, for a migration of one life of a collection.
type deletion struct {
	migration, ns, min, max string
	step, life              uint64
}

// pair is where both sides of a migration are and have been.
type pair struct {
	donor     trace.DonorState
	donors    stateSet
	recipient trace.RecipientState
	// recipientTerm is the term of the recipient's primary: a later one starts over.
	recipientTerm uint64
	// recipientSince is when the recipient entered its state.
	recipientSince int64
	recipients     stateSet
	donorTaskReady bool
}

// stateSet is a set of states.
type stateSet uint16

func setOf[T ~uint8](states ...T) (s stateSet) {
	for _, one := range states {
		s |= 1 << one
	}
	return s
}

// The tables. A state without a row needs nothing.
var (
	// donorNeeds are the states of the recipient of which it must have been in one before the donor
	// enters the state. A clone inside the critical section (protocol 6.6) has only been started;
	// in 4.2, where a recipient blocks nothing, it is done when its donor may ask for the commit.
	donorNeeds = map[trace.DonorState]stateSet{
		trace.DonorCloneCaughtUp:      setOf(trace.RecipientReady),
		trace.DonorCriticalSection:    setOf(trace.RecipientReady),
		trace.DonorCloneCompleted:     setOf(trace.RecipientEnteredCritSec, trace.RecipientDone),
		trace.DonorCommittingOnConfig: setOf(trace.RecipientEnteredCritSec),
	}
	// recipientNeeds are the states of the donor.
	recipientNeeds = map[trace.RecipientState]stateSet{
		trace.RecipientReady:          setOf(trace.DonorCloning),
		trace.RecipientCommitStart:    setOf(trace.DonorCriticalSection),
		trace.RecipientEnteredCritSec: setOf(trace.DonorCriticalSection),
	}
	// recipientFollows are the states after which a recipient may enter one, on one node; 0 is that
	// of a primary which has just begun to lead.
	recipientFollows = map[trace.RecipientState]stateSet{
		trace.RecipientClone:          setOf(trace.RecipientReady),
		trace.RecipientCatchup:        setOf(trace.RecipientClone),
		trace.RecipientSteady:         setOf(trace.RecipientCatchup),
		trace.RecipientCommitStart:    setOf(0, trace.RecipientSteady),
		trace.RecipientEnteredCritSec: setOf(trace.RecipientCommitStart),
		trace.RecipientExitCritSec:    setOf(trace.RecipientEnteredCritSec),
		trace.RecipientDone: setOf(trace.RecipientExitCritSec,
			trace.RecipientCommitStart),
	}
	// phaseFollows are the phases after which a movePrimary may enter one, on whatever node: its
	// record survives. 4.2 has no record and leaves phases out.
	phaseFollows = map[trace.PrimaryMovePhase]stateSet{
		trace.PrimaryCatchUp:      setOf(trace.PrimaryCloning),
		trace.PrimaryEnterCritSec: setOf(trace.PrimaryCatchUp, trace.PrimaryCloning),
		trace.PrimaryCommit:       setOf(trace.PrimaryEnterCritSec),
		trace.PrimaryExitCritSec:  setOf(trace.PrimaryCommit),
		trace.PrimaryCleaning:     setOf(trace.PrimaryExitCritSec, trace.PrimaryCommit),
		trace.PrimaryDone:         setOf(trace.PrimaryCleaning),
	}
)

// judge looks at what leaders do. What a primary does that does not know yet that it is deposed is
// not judged, but the other side may rest on it.
func (r *order) judge(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		r.forget(e.Shard)
		return
	case trace.Majority:
		r.judgeInformed()
		return
	case trace.Applied:
		r.noteChanged(e)
		return
	case trace.DonorAdvanced, trace.RecipientAdvanced, trace.RangeDeletion, trace.DecisionMade,
		trace.MigrationEnded, trace.PrimaryMoving, trace.CatalogWritten:
	default:
		return
	}
	if r.world.Set(e.Shard).Leader != e.Node {
		r.notePassed(e)
		return
	}
	r.judgeTime(e)
	switch e.Kind {
	case trace.DonorAdvanced:
		r.donorEnters(e, r.pair(e))
	case trace.RecipientAdvanced:
		r.recipientEnters(e, r.pair(e))
	case trace.RangeDeletion:
		r.taskEnters(e)
	case trace.DecisionMade:
		r.decides(e)
	case trace.MigrationEnded:
		r.ends(e, r.pair(e))
	case trace.PrimaryMoving:
		r.primaryEnters(e)
	case trace.CatalogWritten:
		r.commits(e)
	}
}

func (r *order) notePassed(e *trace.Event) {
	switch e.Kind {
	case trace.DonorAdvanced:
		r.pair(e).donors |= setOf(e.DonorState())
	case trace.RecipientAdvanced:
		r.pair(e).recipients |= setOf(e.RecipientState())
	case trace.PrimaryMoving:
		r.passed[e.Migration()] = e.PrimaryMovePhase()
	}
}

func (r *order) pair(e *trace.Event) *pair {
	p := r.pairs[e.Migration()]
	if p == nil {
		p = &pair{}
		r.pairs[e.Migration()] = p
	}
	return p
}

func (r *order) donorEnters(e *trace.Event, p *pair) {
	state := e.DonorState()
	if p.donor != 0 && !state.Terminal() && state != p.donor+1 {
		r.outOfOrder(e, stateSkipped, fmt.Sprintf("the donor %s enters state %s", e.Node, state),
			fmt.Sprintf("it was in state %s", p.donor))
	}
	if needs := donorNeeds[state]; needs != 0 && p.donor != 0 && p.recipients&needs == 0 {
		r.outOfOrder(e, stateTooEarly, fmt.Sprintf("the donor %s enters state %s", e.Node, state),
			fmt.Sprintf("the recipient %s is %s and was never %s", e.Peer,
				shown(p.recipient.String()), names(needs, trace.RecipientStates())))
	}
	if state == trace.DonorCloning {
		r.judgeOverlap(e)
	}
	p.donor = state
	p.donors |= setOf(state)
}

func (r *order) recipientEnters(e *trace.Event, p *pair) {
	state, before, term := e.RecipientState(), p.recipient, r.world.Set(e.Shard).Term
	if p.recipientTerm != term {
		before = 0
	}
	enters := fmt.Sprintf("the recipient %s enters state %s", e.Node, state)
	if follows := recipientFollows[state]; follows != 0 && p.donor != 0 && p.recipient != 0 &&
		state != before && follows&setOf(before) == 0 {
		r.outOfOrder(e, stateSkipped, enters, wasIn(before.String()))
	}
	if needs := recipientNeeds[state]; needs != 0 && p.donor != 0 && p.donors&needs == 0 {
		r.outOfOrder(e, stateTooEarly, enters, fmt.Sprintf("the donor %s is %s and was never %s",
			e.Peer, shown(p.donor.String()), names(needs, trace.DonorStates())))
	}
	if state == trace.RecipientExitCritSec && slices.Contains(r.open, e.Migration()) {
		r.outOfOrder(e, stateTooEarly, enters, "the config server has neither committed the "+
			"migration nor refused it for good")
	}
	if state == trace.RecipientClone {
		r.judgeOverlap(e)
	}
	p.recipient, p.recipientTerm, p.recipientSince = state, term, e.At
	p.recipients |= setOf(state)
}

// judgeOverlap: what an earlier migration has left of the range is gone before documents of it are
// copied again, in either direction (protocol 5.1, 5.2). Tasks of earlier lives of the collection
// do not count, nor those that are in memory only, as in 4.2.
func (r *order) judgeOverlap(e *trace.Event) {
	m := r.moves[e.Migration()]
	for _, d := range r.tasks[e.Shard] {
		if d.migration == e.Migration() || d.ns != e.NS || d.min >= e.Max || e.Min >= d.max ||
			d.step < r.drops[e.NS] || m == nil || d.life != m.life {
			continue
		}
		r.outOfOrder(e, overlapIgnored, fmt.Sprintf("%s goes on to state %s", e.Node, e.State()),
			fmt.Sprintf("the deletion %s of %s on %s has been on record since step %d",
				d.migration, r.span(d.min, d.max), e.Shard, d.step))
	}
}

// taskEnters judges tasks on record: what becomes of one is up to the decision of its migration.
func (r *order) taskEnters(e *trace.Event) {
	state, m, i := e.DeletionState(), r.moves[e.Migration()], r.taskOf(e.Shard, e.Migration())
	switch over := e.Orphans() < 0 || state.Terminal() || m == nil; {
	case over && i >= 0:
		r.tasks[e.Shard] = slices.Delete(r.tasks[e.Shard], i, i+1)
		return
	case over:
		return
	case i < 0:
		r.tasks[e.Shard] = append(r.tasks[e.Shard],
			deletion{e.Migration(), e.NS, e.Min, e.Max, e.Step, m.life})
	}
	if state == trace.DeletionPending || r.drops[m.ns] > m.began || m.to == "" {
		return
	}
	if e.Shard == m.from {
		r.pair(e).donorTaskReady = true
	}
	decided := m.decided == trace.Committed
	if e.Shard == m.to {
		decided = m.aborts()
	}
	if !decided {
		r.outOfOrder(e, taskTooEarly,
			fmt.Sprintf("the deletion of %s on %s is %s", r.span(e.Min, e.Max), e.Shard, state),
			"the donor's decision is "+cmp.Or(m.decided.String(), "not made yet"))
	}
}

// forget leaves out the tasks of a shard that may have been rolled back: that both are with a
// majority, a recipient shows by having copied everything. What the donor says does not, as it may
// have everything copied while it blocks writes (protocol 6.6).
func (r *order) forget(shard string) {
	r.tasks[shard] = slices.DeleteFunc(r.tasks[shard], func(d deletion) bool {
		p := r.pairs[d.migration]
		return p == nil || p.recipients&setOf(trace.RecipientCatchup) == 0
	})
}

// taskOf is the place of a migration's task among those of a shard, -1 for none.
func (r *order) taskOf(shard, migration string) int {
	return slices.IndexFunc(r.tasks[shard], func(d deletion) bool {
		return d.migration == migration
	})
}

// decides: who aborts has made sure that no commit comes any more (protocol 9.2).
func (r *order) decides(e *trace.Event) {
	if e.Decision() == trace.Aborted && slices.Contains(r.open, e.Migration()) {
		r.outOfOrder(e, abortedTooEarly, fmt.Sprintf("%s decides to abort", e.Node),
			"the donor asked for the commit, and nothing written since then rules the commit out")
	}
}

// ends: a migration that was committed leaves a deletion on the donor and none on the recipient.
func (r *order) ends(e *trace.Event, p *pair) {
	m := r.moves[e.Migration()]
	if m == nil || m.decided != trace.Committed || r.drops[m.ns] > m.began ||
		!slices.Contains(m.promised, m.from) {
		return
	}
	switch {
	case r.taskOf(m.to, m.id) >= 0:
		r.outOfOrder(e, endedTooEarly, "the migration ended",
			fmt.Sprintf("the deletion of %s on %s, which keeps it, is still on record",
				r.span(m.min, m.max), m.to))
	case !p.donorTaskReady:
		r.outOfOrder(e, endedTooEarly, "the migration ended",
			fmt.Sprintf("the deletion of %s on %s was never made ready",
				r.span(m.min, m.max), m.from))
	}
}

// commits: the config server writes what somebody has asked for.
func (r *order) commits(e *trace.Event) {
	change, id := trace.ParseCatalogChange(e.Why())
	r.noteCommit(e, id, commitRequests[change])
	switch p := r.pairs[id]; {
	case change == trace.ChunkMoved && p != nil && p.donor != 0 &&
		p.donors&setOf(trace.DonorCloneCompleted) == 0:
		r.outOfOrder(e, stateTooEarly, "the config server commits migration "+id,
			fmt.Sprintf("the donor was never %s", trace.DonorCloneCompleted))
	case change == trace.PrimaryMoved && r.phases[id] != 0 &&
		max(r.phases[id], r.passed[id]) < trace.PrimaryCommit:
		r.outOfOrder(e, stateTooEarly, "the config server commits movePrimary "+id,
			fmt.Sprintf("it is in phase %s", r.phases[id]))
	}
}

func (r *order) outOfOrder(e *trace.Event, signature verdict.Signature, broke, because string) {
	ns := e.NS
	if m := r.moves[e.Migration()]; ns == "" && m != nil {
		ns = m.ns
	}
	about := "migration " + e.Migration()
	if e.Kind == trace.PrimaryMoving || e.Shard == model.Config {
		about = "the catalog of " + ns
	}
	r.report(orderRule, verdict.Violation{
		Signature: signature, NS: ns, Broke: about + ": " + broke, Because: []string{because},
	})
}
