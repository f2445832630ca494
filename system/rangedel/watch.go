package rangedel

import (
	"cmp"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/serverstatus"
	"github.com/shardproof/shardproof/system/shard"
)

// Applied starts the work on tasks that became ready and wakes those who wait for tasks. On a
// secondary it warns the queries that a deletion, which cannot wait for them, is about to overtake.
func (r *Service) Applied(_ uint64, e *oplog.Entry, leading bool) {
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.NS == shard.VersionNS && !leading {
			r.informReaders(op)
		}
		if op.Kind == oplog.Rename {
			r.renameSweeps(op.NS, op.ID)
		}
		if op.NS == Namespace {
			r.changed.Broadcast()
			switch {
			case op.Doc == nil:
			case leading:
				r.take(op)
			case isSet(op.Doc, "processing"):
				ns, lost := placeOf(op.Doc)
				r.loseRange(ns, textOf(op.Doc, "collectionUuid"), lost)
			}
		}
	}
}

// renameSweeps has the sweeps of a collection follow it to its new name, as the tasks on record do.
func (r *Service) renameSweeps(from, to string) {
	for _, w := range r.sweeps {
		if w.NS == from && r.has(to, w.UUID) {
			w.NS = to
		}
	}
}

// loseRange informs the queries of a secondary. Those on a collection that was made since have
// nothing to do with it.
func (r *Service) loseRange(ns, uuid string, lost key.Range) {
	if r.has(ns, uuid) {
		r.shard.Collection(ns).LoseRange(lost)
	}
}

// take announces a new task and begins with one that is ready. Most changes only count orphans:
// then the task is not decoded.
func (r *Service) take(op *oplog.Op) {
	pending := isSet(op.Doc, "pending")
	if pending && op.Kind == oplog.Insert {
		r.emit(r.tasks.Decode(op.Doc), trace.DeletionPending)
	}
	if !pending && r.resumed && !r.running[textOf(op.Doc, "_id")] {
		r.start(r.tasks.Decode(op.Doc))
	}
}

// RolledBack wakes those who wait for tasks.
func (r *Service) RolledBack(uint64) { r.changed.Broadcast() }

// Reset wakes those who wait for tasks.
func (r *Service) Reset(uint64) { r.changed.Broadcast() }

// Committed does not matter to range deletion.
func (r *Service) Committed(uint64) {}

// StepUp does nothing: undecided migrations are recovered first, then Resume is called (protocol
// 9.2).
func (r *Service) StepUp(env.Task) error { return nil }

// StepDown forgets the tasks of the term; the tasks themselves end with its scope.
func (r *Service) StepDown() {
	r.resumed = false
	r.running = make(map[string]bool)
	r.sweeps = nil
	r.busy = false
	r.changed.Broadcast()
}

// Resume takes up the tasks that an earlier primary left: first those that may have deleted
// something, then the other ready ones. Pending tasks are left to those who know the outcome of
// their migration (protocol 10.3). The wait and the term may end at once: what is taken up then is
// worked on by nobody, and would count as running when the member leads again.
func (r *Service) Resume(t env.Task) error {
	if err := cmp.Or(t.Point(failpoint.RangeStepUp, env.Note{}), t.Err()); err != nil {
		return err
	}
	r.resumed = true
	for _, processing := range []bool{true, false} {
		for _, k := range r.tasks.All() {
			if !k.Pending && k.Processing == processing && !r.running[k.Migration] {
				r.start(k)
			}
		}
	}
	return nil
}

// Tasks lists the records, for audits.
func (r *Service) Tasks() []Task { return r.tasks.All() }

// count keeps the counters of what is left to be deleted.
func (r *Service) count(n *serverstatus.Sharding) {
	n.Tasks, n.Orphans = 0, 0
	if !r.member.IsPrimary() {
		return
	}
	for _, k := range r.tasks.All() {
		n.Tasks++
		n.Orphans += k.Orphans
	}
}

// emit reports a task as it is on record, or was when its record was removed.
func (r *Service) emit(k Task, state trace.DeletionState) {
	n := int(k.Orphans)
	if r.replaced(k) || !r.shard.Profile().PersistsRangeDeletions() {
		n = -1
	}
	r.node.Emit(trace.RangeDeletionEvent{
		Shard:     r.member.Name(),
		NS:        k.NS,
		Min:       string(k.Min),
		Max:       string(k.Max),
		Migration: k.Migration,
		State:     state,
		Orphans:   n,
	}.Event())
}
