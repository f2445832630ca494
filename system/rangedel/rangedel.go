// Package rangedel deletes the documents of ranges that a shard does not own (any more): the
// donor's copy after a migration, the recipient's after an aborted one (protocol 10.3).
//
// Promise: a task is durable and survives every failover. It is never begun while pending, while a
// query may still read the range, or on a member that is not the primary. A batch is deleted only
// if, at that instant, the task's record is still there with its mark and the shard's known
// metadata does not own a key of the range. A task changes only by the name of its migration, its
// collection and its range: a repeated message of an old migration never touches the task of a
// newer one on the same range.
//
// In 4.2 a deletion is a sweep, in the memory of one term (protocol 10.2): it waits in the same
// way, shares the turn and the batches, and is lost with its primary.
//
// Refusal: nothing here decides whether a range may be deleted; that is up to the caller that
// readies the task.
package rangedel

import (
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// Service is one member's part in range deletion. It works only while the member is primary and
// after Resume.
//
// Invariant: running holds exactly the tasks that a task of this term works on.
type Service struct {
	node     env.Node
	member   *replset.Member
	shard    *shard.Server
	clock    *hlc.Clock
	settings *settings.Settings
	tasks    *statedoc.Journal[Task]
	resumed  bool
	running  map[string]bool
	sweeps   []*rangeSweep // of 4.2, in the order in which they were asked for
	swept    int64         // sweeps that operators have asked for in this term
	busy     bool          // a deletion has the turn
	turn     env.Cond
	changed  env.Cond // a task was written or removed
}

// New adds range deletion to a shard's member and serves command.RangeTaskOp.
func New(
	ep *rpc.Endpoint, member *replset.Member, sh *shard.Server, s *settings.Settings,
) *Service {
	r := &Service{
		node: ep.Node(), member: member, shard: sh, clock: ep.Clock(), settings: s,
		tasks:   statedoc.New[Task](member, Namespace, trace.System),
		running: make(map[string]bool),
	}
	member.Watch(r)
	sh.FollowRenames(r.rename)
	rpc.Handle(ep, r.taskOp)
	rpc.Handle(ep, r.cleanupOrphaned)
	rpc.Handle(ep, r.awaitDeletion)
	rpc.Handle(ep, r.statsForBalancing)
	sh.AddAudit(r.audit)
	sh.AddStatistics(r.count)
	return r
}

// Add returns the operation that records a new task, to be written in the caller's entry.
func (r *Service) Add(k Task) oplog.Op {
	k.At = r.clock.Now().Cluster
	return r.tasks.Put(k.Migration, k)
}

// Get returns the task named; false when there is none, also when the migration's task is of
// another range or collection.
func (r *Service) Get(f For) (Task, bool) {
	k, ok := r.tasks.Get(f.Migration)
	return k, ok && k.For() == f
}

// Count returns the operation that sets the number of orphans of a task; false when the task does
// not exist.
func (r *Service) Count(f For, orphans func(int64) int64) (oplog.Op, bool) {
	k, ok := r.Get(f)
	if !ok {
		return oplog.Op{}, false
	}
	k.Orphans = orphans(k.Orphans)
	return r.tasks.Put(k.Migration, k), true
}

// Drop removes the task named; that it does not exist is success. It does not wait for a majority.
func (r *Service) Drop(t env.Task, f For) (found bool, err error) {
	return r.remove(t, f, trace.DeletionDropped)
}

func (r *Service) remove(t env.Task, f For, how trace.DeletionState) (found bool, err error) {
	k, found := r.Get(f)
	if !found {
		return false, nil
	}
	if _, err = r.member.Write(t, r.tasks.Remove(k.Migration)); err == nil {
		r.emit(k, how)
	}
	return found, err
}

// Ready ends the pending state of the task named, so that it is carried out. It does nothing for a
// task that is not pending or does not exist, and does not wait for a majority.
func (r *Service) Ready(t env.Task, f For) (found bool, err error) {
	if err := t.Point(failpoint.RangePendingCleared, env.Note{ID: f.Migration}); err != nil {
		return false, err
	}
	k, found := r.Get(f)
	if !found || !k.Pending {
		return found, nil
	}
	k.Pending = false
	if _, err = r.member.Write(t, r.tasks.Put(k.Migration, k)); err == nil {
		r.emit(k, trace.DeletionReady)
	}
	return found, err
}

// rename has the tasks of a collection follow it to its new name (SERVER-60518).
func (r *Service) rename(uuid, to string) (ops []oplog.Op) {
	for _, k := range r.tasks.All() {
		if k.UUID == uuid {
			k.NS = to
			ops = append(ops, r.tasks.Put(k.Migration, k))
		}
	}
	return ops
}

// disabled refuses to wait for a deletion that nobody carries out (disableResumableRangeDeleter).
func (r *Service) disabled(waits bool) error {
	if !waits || r.settings.DeleterDisabled == 0 {
		return nil
	}
	return errcode.New(errcode.ResumableRangeDeleterDisabled,
		"range deletion is disabled on %s, and what there is to delete stays", r.node.ID())
}

// AwaitNoOverlap waits until no task of the collection, pending or not, overlaps the range, for at
// most timeout, then with errcode.ExceededTimeLimit.
func (r *Service) AwaitNoOverlap(
	t env.Task, uuid string, rng key.Range, timeout time.Duration,
) error {
	if err := t.Point(failpoint.RangeConflict, env.Note{}); err != nil {
		return err
	}
	if err := r.disabled(r.overlaps(uuid, rng)); err != nil {
		return err
	}
	err := r.changed.WaitFor(t, timeout, func() bool { return !r.overlaps(uuid, rng) })
	if errcode.Is(err, errcode.ExceededTimeLimit) {
		return errcode.New(errcode.ExceededTimeLimit,
			"range %v overlaps a range deletion that did not end within %v", rng, timeout)
	}
	return err
}

func (r *Service) overlaps(uuid string, rng key.Range) bool {
	for _, k := range r.tasks.All() {
		if k.UUID == uuid && k.Range().Overlaps(rng) {
			return true
		}
	}
	return false
}

// AwaitDone waits until the task of a migration does not exist.
func (r *Service) AwaitDone(t env.Task, migration string) error {
	if err := r.disabled(r.tasks.Has(migration)); err != nil {
		return err
	}
	return r.changed.WaitFor(t, 0, func() bool { return !r.tasks.Has(migration) })
}

// taskOp serves the donor of a migration, or its successor, on the recipient (protocol 9.1). It
// answers once a majority knows the outcome, also when there was nothing to do: what it saw may
// still be rolled back.
func (r *Service) taskOp(
	t env.Task, _ env.NodeID, req *command.RangeTaskOp,
) (*command.RangeTaskReply, error) {
	lead, err := r.member.Lead()
	if err != nil {
		return nil, err
	}
	f := For{req.Migration, req.UUID, key.Range{Min: req.Min, Max: req.Max}}
	reply := &command.RangeTaskReply{}
	switch req.Op {
	case "delete":
		reply.Found, err = r.Drop(t, f)
	case "ready":
		reply.Found, err = r.Ready(t, f)
	case "orphans":
		var k Task
		k, reply.Found = r.Get(f)
		reply.Orphans = k.Orphans
	default:
		err = errcode.New(errcode.BadValue, "unknown operation %q on a range deletion task", req.Op)
	}
	if err == nil {
		err = lead.AwaitMajority(t)
	}
	return reply, err
}
