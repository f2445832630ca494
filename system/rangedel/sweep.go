package rangedel

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// rangeSweep is a range deletion of 4.2: in the memory of one term and nowhere else (protocol
// 10.2). What a primary had not deleted when it stepped down stays as orphans, which nobody sees
// and only cleanupOrphaned removes.
//
// Invariant: no sweep of a range that is owned by what is known, and none but its own of a range
// that is being received.
type rangeSweep struct {
	Task
	// user is the newest earlier state of the metadata that showed the range to a query when the
	// sweep was asked for: the sweep waits until that and all older ones are out of use.
	user *shard.Metadata
	// hurried: the range is about to be received, and cannot wait for the delay.
	hurried bool
}

// overlaps goes by the collection and not by its name: one that was renamed meanwhile may have its
// old name back before the sweep comes to it.
func (w *rangeSweep) overlaps(k Task) bool {
	return w.UUID == k.UUID && w.Range().Overlaps(k.Range())
}

// CleanUp has the documents of a range deleted that is not the shard's. It fails when the shard
// owns a part of it, or is receiving one, or does not know. It does not wait; the deletion ends
// with the term at the latest.
func (r *Service) CleanUp(k Task) error {
	if r.shard.Collection(k.NS).Receiving(k.Range()) {
		return errcode.New(errcode.RangeOverlapConflict,
			"range %v of %s cannot be cleaned up, a part of it is being received", k.Range(), k.NS)
	}
	return r.cleanUp(k)
}

func (r *Service) cleanUp(k Task) error {
	c := r.shard.Collection(k.NS)
	md := c.Metadata()
	if err := r.member.NeedPrimary(); err != nil {
		return err
	}
	switch {
	case md == nil:
		return errcode.New(errcode.ConflictingOperationInProgress,
			"the placement of %s is not known", k.NS)
	case md.Overlaps(k.Range()):
		return errcode.New(errcode.RangeOverlapConflict,
			"range %v of %s cannot be cleaned up, the shard owns a part of it", k.Range(), k.NS)
	}
	r.launch(&rangeSweep{Task: k, user: c.NewestUser(k.Range())})
	return nil
}

// BeginReceive notes that a range arrives and deletes what is left there of earlier copies, all at
// once; it returns when nothing is left and no deletion will touch the range before ForgetReceive.
// It fails when the shard owns a part of the range, or a running query may see one. After an error
// ForgetReceive is due all the same.
func (r *Service) BeginReceive(t env.Task, k Task) error {
	c, rng := r.shard.Collection(k.NS), k.Range()
	md := c.Metadata()
	if md == nil || md.Overlaps(rng) || c.InUse(rng) {
		return errcode.New(errcode.RangeOverlapConflict,
			"range %v of %s is owned here, or in use, or its placement is not known", rng, k.NS)
	}
	c.BeginReceive(k.Migration, rng)
	r.launch(&rangeSweep{Task: k})
	for _, w := range r.sweeps {
		w.hurried = w.hurried || w.overlaps(k)
	}
	r.changed.Broadcast()
	return r.awaitSweeps(t, r.settings.OverlapWait, func(w *rangeSweep) bool {
		return w.overlaps(k)
	})
}

// ForgetReceive ends a recipient migration that failed: what has arrived is deleted, whatever
// arrived there before and was not heard of again (protocol 10.2).
func (r *Service) ForgetReceive(k Task) {
	r.shard.Collection(k.NS).EndReceive(k.Migration)
	if err := r.cleanUp(k); err != nil {
		r.node.Sometimes("what a failed reception has cloned is left behind")
	}
}

// AwaitSwept waits until the sweeps of a migration are over.
func (r *Service) AwaitSwept(t env.Task, migration string) error {
	return r.awaitSweeps(t, 0, func(w *rangeSweep) bool { return w.Migration == migration })
}

func (r *Service) awaitSweeps(
	t env.Task, timeout time.Duration, which func(*rangeSweep) bool,
) error {
	err := r.changed.WaitFor(t, timeout, func() bool {
		return !slices.ContainsFunc(r.sweeps, which)
	})
	if errcode.Is(err, errcode.ExceededTimeLimit) {
		return errcode.New(errcode.ExceededTimeLimit, "a deletion did not end within %v", timeout)
	}
	return err
}

// launch carries a sweep out, behind those that are queued already.
func (r *Service) launch(w *rangeSweep) {
	r.sweeps = append(r.sweeps, w)
	r.emit(w.Task, trace.DeletionReady)
	r.persist(w.Task, func(t env.Task) error { return r.carryOutSweep(t, w) }, func() {
		r.sweeps = slices.DeleteFunc(r.sweeps, func(o *rangeSweep) bool { return o == w })
		r.changed.Broadcast()
	})
}

func (r *Service) carryOutSweep(t env.Task, w *rangeSweep) error {
	if err := t.Point(failpoint.RangeRegister, env.Note{ID: w.Migration}); err != nil {
		return err
	}
	if err := r.awaitTime(t, w); err != nil {
		return err
	}
	if err := r.takeTurn(t, w.Task); err != nil {
		return err
	}
	defer r.endTurn(r.member.TermScope())
	return r.sweepAll(t, w)
}

// awaitTime waits for the queries of this member that may see the range, and then for those
// elsewhere.
func (r *Service) awaitTime(t env.Task, w *rangeSweep) error {
	if err := t.Point(failpoint.RangeWaitQueries, env.Note{ID: w.Migration}); err != nil {
		return err
	}
	if err := r.shard.Collection(w.NS).AwaitRetired(t, w.user); err != nil {
		return err
	}
	if err := t.Point(failpoint.RangeDelay, env.Note{ID: w.Migration}); err != nil {
		return err
	}
	if w.When == Now || r.settings.OrphanCleanupDelay == 0 {
		return nil
	}
	err := r.changed.WaitFor(t, r.settings.OrphanCleanupDelay, func() bool { return w.hurried })
	if t.Err() == nil {
		return nil // the delay has passed, or nobody has time for it
	}
	return err
}

// sweepAll deletes what there is, under the name that the collection has then, and begins again
// when it was renamed meanwhile.
func (r *Service) sweepAll(t env.Task, w *rangeSweep) error {
	for again := true; again; again = r.unknown(w) {
		if err := r.know(t, w); err != nil {
			return err
		}
		if err := r.sweepNamed(t, w); err != nil {
			return err
		}
	}
	if err := statedoc.AwaitMajority(t, r.member, r.member.Applied()); err != nil {
		return err
	}
	r.emit(w.Task, trace.DeletionDone)
	return nil
}

// unknown reports whether the shard does not know what it owns of the collection, which was
// renamed: its metadata goes by the name.
func (r *Service) unknown(w *rangeSweep) bool {
	return !r.replaced(w.Task) && r.shard.Collection(w.NS).Metadata() == nil
}

// know has the shard learn what it owns of a collection that was renamed.
func (r *Service) know(t env.Task, w *rangeSweep) error {
	if !r.unknown(w) {
		return nil
	}
	if err := r.shard.Collection(w.NS).Refresh(t); err != nil || !r.unknown(w) {
		return err
	}
	return errcode.New(errcode.ConflictingOperationInProgress,
		"the placement of %s is not known, it was renamed", w.NS)
}

// sweepNamed deletes batch by batch, after a word to the secondaries.
func (r *Service) sweepNamed(t env.Task, w *rangeSweep) error {
	if err := t.Point(failpoint.RangeWarn, env.Note{ID: w.Migration}); err != nil {
		return err
	}
	if _, err := r.member.Write(t, warningOp(w.Task)); err != nil {
		return err
	}
	r.emit(w.Task, trace.DeletionProcessing)
	return r.deleteBatches(
		t, w.Task, func(Task) ([]oplog.Op, int) { return r.nextSwept(w) },
	)
}

// nextSwept returns the deletions of a batch; none when the range is not to be swept any more, or
// not under this name. Check and write are one step.
func (r *Service) nextSwept(w *rangeSweep) ([]oplog.Op, int) {
	if r.unknown(w) {
		return nil, 0
	}
	if r.replaced(w.Task) || r.claimed(w) {
		r.node.Sometimes("a sweep is abandoned")
		return nil, 0
	}
	return r.scan(w.Task)
}

// claimed reports whether the range is the shard's by now, as after a commit that nobody expected
// any more (SERVER-44716).
func (r *Service) claimed(w *rangeSweep) bool {
	md := r.shard.Collection(w.NS).Metadata()
	return md != nil && md.Overlaps(w.Range())
}

// startRangeDeletion is the document by which a sweep informs secondaries of what it is about to
// delete (protocol 10.4).
const startRangeDeletion = "startRangeDeletion"

type warningDoc struct {
	ID   string `bson:"_id"`
	NS   string `bson:"ns"`
	UUID string `bson:"uuid"`
	Min  []byte `bson:"min"`
	Max  []byte `bson:"max"`
}

func warningOp(k Task) oplog.Op {
	doc, err := bson.Marshal(warningDoc{startRangeDeletion, k.NS, k.UUID, k.Min, k.Max})
	if err != nil {
		panic(err)
	}
	return oplog.Op{
		Kind:  oplog.Update,
		NS:    shard.VersionNS,
		ID:    string(key.String(startRangeDeletion)),
		Doc:   doc,
		Actor: uint8(trace.RangeDeleter),
		Tag:   k.Migration,
	}
}

// informReaders informs the queries of a secondary.
func (r *Service) informReaders(op *oplog.Op) {
	var w warningDoc
	if op.ID != string(key.String(startRangeDeletion)) {
		return
	}
	err := bson.Unmarshal(op.Doc, &w)
	r.node.Assert(err == nil, "a warning of %s cannot be read: %v: %v", r.node.ID(), op.Doc, err)
	r.loseRange(w.NS, w.UUID, key.Range{Min: key.Key(w.Min), Max: key.Key(w.Max)})
}
