package rangedel

import (
	"cmp"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/statedoc"
	"github.com/shardproof/shardproof/system/store"
)

// retryPause is how long a task that failed waits before it is tried again.
const retryPause = 100 * time.Millisecond

// start works on a task until it is done or the term ends.
func (r *Service) start(k Task) {
	if r.settings.DeleterDisabled > 0 {
		return
	}
	r.running[k.Migration] = true
	r.persist(k, func(t env.Task) error {
		return r.carryOut(t, k)
	}, func() { delete(r.running, k.Migration) })
}

// persist has do carry a task out. An attempt that fails, even because its task was killed, is
// followed by another in a task of its own, until one succeeds or the term ends.
func (r *Service) persist(k Task, do func(env.Task) error, done func()) {
	termScope := r.member.TermScope()
	r.node.Spawn(termScope, "range-deletion "+k.Migration, func(t env.Task) {
		err := do(t)
		switch {
		case termScope.Err() != nil:
		case err == nil:
			done()
		default:
			r.node.After(retryPause, func() {
				if termScope.Err() == nil {
					r.persist(k, do, done)
				}
			})
		}
	})
}

// carryOut is the life of a ready task (protocol 10.3).
func (r *Service) carryOut(t env.Task, k Task) error {
	if err := t.Point(failpoint.RangeRegister, env.Note{ID: k.Migration}); err != nil {
		return err
	}
	if err := r.awaitReaders(t, k); err != nil {
		return err
	}
	if err := r.takeTurn(t, k); err != nil {
		return err
	}
	defer r.endTurn(r.member.TermScope())
	return r.deleteAll(t, k)
}

// awaitReaders waits for the queries of this member that began while the range was owned, and then
// for those elsewhere.
func (r *Service) awaitReaders(t env.Task, k Task) error {
	if err := t.Point(failpoint.RangeWaitQueries, env.Note{ID: k.Migration}); err != nil {
		return err
	}
	if err := r.shard.Collection(k.NS).AwaitQueries(t, k.Range()); err != nil {
		return err
	}
	if err := t.Point(failpoint.RangeDelay, env.Note{ID: k.Migration}); err != nil {
		return err
	}
	if k.When == Delayed {
		return t.Sleep(r.settings.OrphanCleanupDelay)
	}
	return nil
}

// takeTurn waits until no other deletion runs on this member. A turn that is taken when the term
// has ended together with the wait would never be given back.
func (r *Service) takeTurn(t env.Task, k Task) error {
	err := cmp.Or(t.Point(failpoint.RangeEnqueue, env.Note{ID: k.Migration}), t.Err())
	if err != nil {
		return err
	}
	if err := r.turn.WaitFor(t, 0, func() bool { return !r.busy }); err != nil {
		r.turn.Signal() // the turn may have been offered to this task
		return err
	}
	r.busy = true
	return nil
}

func (r *Service) endTurn(termScope *env.Scope) {
	if termScope.Err() == nil {
		r.busy = false
		r.turn.Signal()
	}
}

// deleteAll marks the task, deletes batch by batch and removes the task's record.
func (r *Service) deleteAll(t env.Task, k Task) error {
	if err := r.markProcessing(t, k); err != nil {
		return err
	}
	if err := r.deleteBatches(t, k, r.nextBatch); err != nil {
		return err
	}
	return r.finish(t, k)
}

// deleteBatches writes one batch after the other, as next makes them, until one is empty.
func (r *Service) deleteBatches(t env.Task, k Task, next func(Task) ([]oplog.Op, int)) error {
	for batch := 0; ; batch++ {
		more, err := r.deleteBatch(t, k, batch, next)
		if err != nil || !more {
			return err
		}
		if err := t.Sleep(r.settings.RangeDeleterDelay); err != nil {
			return err
		}
	}
}

func (r *Service) markProcessing(t env.Task, k Task) error {
	if err := t.Point(failpoint.RangeMarkProcessing, env.Note{ID: k.Migration}); err != nil {
		return err
	}
	now, exists := r.Get(k.For())
	if !exists || now.Processing {
		return nil
	}
	now.Processing = true
	_, err := r.member.Write(t, r.tasks.Put(now.Migration, now))
	if err == nil {
		r.emit(now, trace.DeletionProcessing)
	}
	return err
}

// deleteBatch deletes the next documents of the range and waits until a majority has forgotten
// them; false means that there is nothing left, or that the task is gone.
func (r *Service) deleteBatch(
	t env.Task, k Task, batch int, next func(Task) ([]oplog.Op, int),
) (more bool, err error) {
	for _, at := range []failpoint.Site{
		failpoint.RangeCheckDoc, failpoint.RangeCheckOwnership, failpoint.RangeBatchBefore,
	} {
		if err := t.Point(at, env.Note{ID: k.Migration, N: batch}); err != nil {
			return false, err
		}
	}
	if r.settings.HighPriority == 0 {
		if err := t.Yield(failpoint.RangeBatchBefore); err != nil {
			return false, err
		}
	}
	ops, bytes := next(k)
	if len(ops) == 0 {
		return false, nil
	}
	at, err := r.member.Write(t, ops...)
	if err != nil {
		return false, err
	}
	r.account(ops, bytes)
	if err := t.Point(failpoint.RangeBatchAfter, env.Note{ID: k.Migration, N: batch}); err != nil {
		return false, err
	}
	if err := t.Point(failpoint.RangeMajority, env.Note{ID: k.Migration, N: batch}); err != nil {
		return false, err
	}
	return true, statedoc.AwaitMajority(t, r.member, at)
}

// account counts the documents that a batch deletes; what else it writes is the task's.
func (r *Service) account(ops []oplog.Op, bytes int) {
	n := r.shard.Statistics()
	n.BytesDeleted += int64(bytes)
	for i := range ops {
		if ops[i].Kind == oplog.Delete {
			n.DocsDeleted++
		}
	}
}

// nextBatch returns the deletions of a batch together with the task's new count. It checks, with
// nothing in between and the write to follow at once, that the task is still to be carried out and
// the range is not owned. The collection may have another name than when the task began: what
// counts is the record.
func (r *Service) nextBatch(k Task) (ops []oplog.Op, bytes int) {
	now, exists := r.Get(k.For())
	if !exists || now.Pending || r.replaced(now) {
		return nil, 0
	}
	r.checkOwnership(now)
	ops, bytes = r.scan(now)
	if n := len(ops); n > 0 {
		now.Orphans -= int64(n)
		ops = append(ops, r.tasks.Put(now.Migration, now))
	}
	return ops, bytes
}

// scan returns the deletions of the next documents, and how large these are.
func (r *Service) scan(k Task) (ops []oplog.Op, bytes int) {
	limit := r.settings.RangeDeleterBatch
	r.member.Store().ScanKey(k.NS, k.Range(), store.Latest, store.Place{},
		func(_ key.Key, id string, doc bson.Raw) bool {
			bytes += len(doc)
			ops = append(ops, oplog.Op{
				Kind:        oplog.Delete,
				NS:          k.NS,
				ID:          id,
				Actor:       uint8(trace.RangeDeleter),
				Tag:         k.Migration,
				FromMigrate: true,
			})
			return limit == 0 || len(ops) < limit
		})
	return ops, bytes
}

// replaced reports whether the namespace means another collection by now, or none (protocol 10.3).
func (r *Service) replaced(k Task) bool { return !r.has(k.NS, k.UUID) }

// has reports whether the member has a collection of that name and identity.
func (r *Service) has(ns, uuid string) bool {
	options, ok := r.member.Store().Options(ns)
	if !ok {
		return false
	}
	its, _, err := store.DecodeOptions(options)
	return err == nil && its == uuid
}

// checkOwnership stops the run when this member knows that the shard owns a part of the range.
func (r *Service) checkOwnership(k Task) {
	m := r.shard.Collection(k.NS).Metadata()
	if m == nil {
		return
	}
	for _, owned := range m.Owned() {
		r.node.Assert(!owned.Overlaps(k.Range()),
			"task %s of %s is to delete %v, but the shard owns %v",
			k.Migration, k.NS, k.Range(), owned)
	}
}

// finish removes the record of a task whose range is empty.
func (r *Service) finish(t env.Task, k Task) error {
	if err := t.Point(failpoint.RangeRemoveDoc, env.Note{ID: k.Migration}); err != nil {
		return err
	}
	if err := statedoc.AwaitMajority(t, r.member, r.member.Applied()); err != nil {
		return err
	}
	if _, err := r.remove(t, k.For(), trace.DeletionDone); err != nil {
		return errcode.New(errcode.OperationFailed, "task %s cannot be removed: %v",
			k.Migration, err)
	}
	return nil
}
