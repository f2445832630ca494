package oracle

import (
	"fmt"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// deletionRule is range-deletion.
var deletionRule = verdict.Checker{
	Name: "range-deletion",
	Promise: "The range deleter deletes only documents that its shard neither owns nor is " +
		"receiving, and that no open cursor may still return, and it begins no sooner than " +
		"the configured delay allows. It forgets a range only when no orphan is left in it, and " +
		"nobody is told earlier that the deletion is done.",
	Signatures: verdict.Meanings{
		deletedOwned:    "the range deleter deleted a document that its shard owns",
		deletedKnown:    "the range deleter deleted what its shard owns by the metadata of its node",
		deletedReceived: "the range deleter deleted a document that a migration is bringing in",
		forgotten:       "a range deletion was over although documents of the range were left",
		deletedPinned:   "the range deleter deleted a document that an open cursor may return",
		deletedSoon:     "the range deleter began before the configured delay had passed",
		cleanedTooEarly: "somebody who waited for a range deletion was answered before it was done",
	},
}

var _ = declare(30, deletionRule, func(o *Oracle) hooks {
	return hooks{event: func(e *trace.Event) {
		o.judgeDeletion(e)
		o.judgeForgotten(e)
		o.awaited.follow(o, e)
		if e.Kind == trace.RangeDeletion {
			o.awaited.followReady(e)
		}
	}}
})

// The signatures of deletion violations.
const (
	deletedOwned    verdict.Signature = "deleted-owned-document"
	deletedKnown    verdict.Signature = "deleted-against-own-metadata"
	deletedReceived verdict.Signature = "deleted-incoming-document"
	deletedPinned   verdict.Signature = "deleted-document-of-open-cursor"
	forgotten       verdict.Signature = "deletion-over-too-early"
	cleanedTooEarly verdict.Signature = "cleaned-up-too-early"
)

func (o *Oracle) judgeDeletion(e *trace.Event) {
	if e.Kind != trace.Applied || e.Actor != trace.RangeDeleter || e.Hash != 0 || e.Key == "" ||
		!o.world.Set(e.Shard).Leads(e) {
		return
	}
	o.judgeDelay(e)
	if table := o.world.Table(e.NS); table != nil && table.Owner(e.Key) == e.Shard &&
		!o.hasFormer(e) {
		o.wrongDeletion(e, deletedOwned,
			fmt.Sprintf("a majority of the config server says that %s owns the key", e.Shard))
	}
	o.judgeKnown(e)
	n := o.node(e.Node)
	for _, r := range n.receives {
		if r.ns == e.NS && r.min <= e.Key && e.Key < r.max && r.state.Receiving() {
			o.wrongDeletion(e, deletedReceived,
				fmt.Sprintf("%s is receiving %s in migration %s, which is in state %s",
					e.Node, o.span(r.min, r.max), r.id, r.state))
		}
	}
	if cu := o.causes.keeper(e.Node, e.Shard, e.NS, e.Key, e.At); cu != nil {
		o.wrongDeletion(e, deletedPinned,
			fmt.Sprintf("cursor %s, which a client has not finished with, was let in when %s "+
				"owned the key", cu.id, e.Shard), cu.step)
		return
	}
	for _, c := range n.cursors {
		if c.ns == e.NS && holds(c.owned, e.Key) {
			o.wrongDeletion(e, deletedPinned,
				fmt.Sprintf("cursor %s, opened at step %d when %s owned the key, may still "+
					"return it",
					c.id, c.step, e.Shard), c.step)
			return
		}
	}
}

// judgeKnown: a commit may give a range to the shard without the knowledge of the primary that has
// scheduled a deletion there; but once that has installed the new metadata, it deletes nothing any
// more (protocol 10.2). Exempt are the documents of a former collection of the name, and what a
// movePrimary drops, which goes by its record.
func (o *Oracle) judgeKnown(e *trace.Event) {
	if o.primaries[e.For()] != nil || o.hasFormer(e) ||
		!holds(o.causes.of(e.Node).about(e.NS).chunks, e.Key) {
		return
	}
	o.report(deletionRule, verdict.Violation{
		Signature: deletedKnown, NS: e.NS, // without the key: no damage that was done before excuses it
		Broke: fmt.Sprintf("%s deleted key %s as an orphan, for task %s",
			e.Node, o.show(e.Key), e.For()),
		Because: []string{fmt.Sprintf("by the metadata that it has installed, %s owns the key",
			e.Shard)},
	})
}

// judgeForgotten: a right count (see orphanCountRule) may be above zero at the end. A sweep of
// 4.2, which counts nothing, may also be over because the range is the shard's again, for all that
// its primary knows, or because the collection was replaced (protocol 10.2).
func (o *Oracle) judgeForgotten(e *trace.Event) {
	if e.DeletionState() != trace.DeletionDone || o.world.Set(e.Shard).Leader != e.Node ||
		e.Orphans() < 0 && !o.isAbout(e) {
		return
	}
	if left := len(o.world.Set(e.Shard).Documents(e.NS, e.Min, e.Max)); left > 0 &&
		(left == e.Orphans() || e.Orphans() < 0) {
		o.report(deletionRule, verdict.Violation{
			Signature: forgotten,
			NS:        e.NS,
			Broke: fmt.Sprintf("%s removes task %s of %s as done",
				e.Node, e.Migration(), o.span(e.Min, e.Max)),
			Because: []string{fmt.Sprintf("%s holds %d documents there", e.Node, left)},
		})
	}
}

// isAbout reports whether a deletion without a count is about what its primary has: documents of
// the collection that its migration moved, in a range that the shard has no part of.
func (o *Oracle) isAbout(e *trace.Event) bool {
	m := o.moves[e.Migration()]
	if m == nil || m.life == 0 || m.life != o.lives[e.NS] || o.drops[e.NS] > m.began ||
		m.identity != o.identity(e.Node, e.NS) {
		return false
	}
	overlaps := func(c trace.Chunk) bool { return c.Min < e.Max && e.Min < c.Max }
	return !slices.ContainsFunc(o.causes.of(e.Node).about(e.NS).chunks, overlaps) &&
		!slices.ContainsFunc(o.world.Table(e.NS).Owned(e.Shard), overlaps)
}

func (o *Oracle) wrongDeletion(
	e *trace.Event, signature verdict.Signature, because string, more ...uint64,
) {
	o.report(deletionRule, verdict.Violation{
		Signature: signature,
		NS:        e.NS,
		Key:       o.show(e.Key),
		Because:   []string{because},
		Broke: fmt.Sprintf("%s deleted key %s as an orphan, for task %s",
			e.Node, o.show(e.Key), e.For()),
	}, more...)
}

// openCursor notes what a cursor may see. Its node says so itself, because what counts is what the
// node knew when it let the query in, which truth may have overtaken by the time of the event.
func (o *Oracle) openCursor(e *trace.Event) {
	n := o.node(e.Node)
	n.cursors = append(n.cursors,
		cursor{id: e.Cursor(), ns: e.NS, step: e.Step, owned: slices.Clone(e.Chunks)})
}

func holds(ranges []trace.Chunk, key string) bool {
	return slices.ContainsFunc(ranges, func(c trace.Chunk) bool {
		return c.Min <= key && key < c.Max
	})
}

// CleansUp is called when a shard is asked to answer once its range deletions of a collection are
// done, and what it returns when the answer has come, with whether it is that they are.
func (o *Oracle) CleansUp(shard, ns string) (answered func(done bool)) {
	asked := o.step
	before := o.deletionsOf(shard, ns)
	return func(done bool) {
		if !done || o.drops[ns] >= asked {
			return
		}
		for _, d := range o.deletionsOf(shard, ns) {
			if !slices.Contains(before, d) {
				continue
			}
			o.report(deletionRule, verdict.Violation{
				Signature: cleanedTooEarly,
				NS:        ns,
				Broke: fmt.Sprintf("%s has answered that nothing of %s is left to be deleted",
					shard, ns),
				Because: []string{fmt.Sprintf("the deletion %s of %s was on record when it was "+
					"asked, at step %d, and is so now", d.migration, o.span(d.min, d.max), asked)},
			}, d.step, asked)
		}
	}
}

// deletionsOf are the deletions that a shard has on record, of the collection that has the name
// now; none when it has been dropped or renamed, and no other has the name.
func (o *Oracle) deletionsOf(shard, ns string) (of []deletion) {
	if o.drops[ns] > o.lives[ns] {
		return nil
	}
	for _, d := range o.order.tasks[shard] {
		if d.ns == ns && d.life == o.lives[ns] {
			of = append(of, d)
		}
	}
	return of
}

// orphanCountRule is the part of orphan-count that can be judged while a run goes on; that nothing
// is left over is the audit's.
var orphanCountRule = verdict.Checker{
	Name: "orphan-count",
	Promise: "A range deletion task counts its orphaned documents: from when the deletion may " +
		"begin until it is done, the count is the number of documents that are still there.",
	Signatures: verdict.Meanings{
		orphansMiscounted: "a task's orphan count is not the number of its orphaned documents",
	},
}

var _ = declare(40, orphanCountRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeOrphans}
})

// orphansMiscounted is the signature of a task whose count is not the number of its orphans.
const orphansMiscounted verdict.Signature = "orphan-count-wrong"

// judgeOrphans compares where a task goes on from one state to the next. While it is pending
// nothing of the range is an orphan for certain, nor of a task that is dropped, and a task whose
// collection was replaced has nothing left to count.
func (o *Oracle) judgeOrphans(e *trace.Event) {
	if e.Kind != trace.RangeDeletion || e.DeletionState() == trace.DeletionPending ||
		e.DeletionState() == trace.DeletionDropped ||
		e.Orphans() < 0 || o.world.Set(e.Shard).Leader != e.Node {
		return
	}
	left := len(o.world.Set(e.Shard).Documents(e.NS, e.Min, e.Max))
	if left != e.Orphans() && !o.countedBefore(e, left) {
		o.report(orphanCountRule, verdict.Violation{
			Signature: orphansMiscounted,
			NS:        e.NS,
			Broke: fmt.Sprintf("task %s of %s, which is %s, counts %d orphans in %s",
				e.Migration(), e.Shard, e.State(), e.Orphans(), o.span(e.Min, e.Max)),
			Because: []string{fmt.Sprintf("%s holds %d documents there", e.Node, left)},
		})
	}
}

// countedBefore says whether a donor that has had another primary since goes by the number of
// documents that it gave away: it takes the count over from the recipient, which has what a primary
// sent that was deposed before it was majority-committed, even before it blocked writes. By how
// much that is wrong does not change until the deletion is done.
func (o *Oracle) countedBefore(e *trace.Event, left int) bool {
	m := o.moves[e.Migration()]
	if m == nil || e.Shard != m.from || o.world.Set(e.Shard).Term == m.term {
		return false
	}
	given := len(m.donor)
	if m.blocked == 0 {
		given = m.received
	}
	if e.DeletionState() == trace.DeletionReady && e.Orphans() == given {
		m.miscounted = e.Orphans() - left
	}
	return e.Orphans()-left == m.miscounted
}

// MayForget reports whether a shard whose range deletions live in its primary's memory (protocol
// 10.2) may have forgotten that it has to delete what it holds of a key: since a migration that
// gave the key away, or began to bring it, another primary was elected, or the collection dropped.
// Nor does a donor know that never read what became of its commit, or had given the migration up
// before it was committed, or that an operator or an error stopped before it began the deletion
// (protocol 4), or a recipient that had everything and was never told that the commit had failed.
func (o *Oracle) MayForget(ns, shard, key string) bool {
	for _, id := range slices.Sorted(maps.Keys(o.moves)) {
		m := o.moves[id]
		same := m.ns == ns || m.life != 0 && m.life == o.lives[ns] // it may have been renamed
		if same && m.min <= key && key < m.max && o.forgets(m, ns, shard) {
			return true
		}
	}
	return false
}

// forgets: a name is also given up by a rename, which ends no deletion.
func (o *Oracle) forgets(m *move, ns, shard string) bool {
	lives := m.life != 0 && m.life == o.lives[ns] && o.world.Latest(ns) != nil
	switch {
	case m.began == 0:
		return false
	case o.drops[m.ns] > m.began && !lives:
		return true
	case shard == m.from:
		return o.elections[shard] > m.began || !m.reported ||
			!m.swept && (o.killed > m.began || o.isUnfenced(m.id))
	case shard == m.to:
		return o.elections[shard] > m.began || m.arrived && m.committed == 0
	}
	return false
}
