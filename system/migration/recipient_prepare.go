package migration

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/statedoc"
	"github.com/shardproof/shardproof/system/store"
)

// awaitOverlap is step 1: an earlier deletion of the range must have ended, or it would delete what
// arrives.
func (r *recipientMigration) awaitOverlap(t env.Task) error {
	if err := r.at(t, failpoint.RecipientWaitOverlap, 0); err != nil {
		return err
	}
	if r.s.settings.DeleterDisabled > 0 {
		return errcode.New(errcode.ResumableRangeDeleterDisabled,
			"range deletion is disabled, so nothing would delete what a failed migration leaves")
	}
	return r.s.ranges.AwaitNoOverlap(t, r.start.UUID, r.rng(), r.s.settings.OverlapWait)
}

// createCollection is step 2: the collection exists here as it does on the donor, and is known by
// the same names, as the history of sessions is handed on from here by those. It is never made
// later, by an insert (SERVER-89971).
func (r *recipientMigration) createCollection(t env.Task) error {
	if err := r.at(t, failpoint.RecipientCreate, 0); err != nil {
		return err
	}
	theirs, err := askPrimary[command.CollectionOptionsReply](t, r.s, r.start.From,
		&command.CollectionOptions{NS: r.start.NS, Session: r.start.Session},
		r.s.settings.CommandTimeout)
	if err != nil {
		return err
	}
	uuid, pattern, err := store.DecodeOptions(theirs.Options)
	if err != nil {
		return err
	}
	if uuid != r.start.UUID {
		return errcode.New(errcode.IncompatibleShardingMetadata, "%s has uuid %s on %s, not %s",
			r.start.NS, uuid, r.start.From, r.start.UUID)
	}
	r.pattern = pattern
	ops, err := r.missing(theirs.Options)
	if err != nil {
		return err
	}
	ops = append(ops, r.s.shard.KeepNames(r.start.NS, theirs.Formerly, theirs.Rekeyed)...)
	if err := r.writeAny(t, ops); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientIndexes, 0); err != nil {
		return err
	}
	return r.writeAny(t, r.missingIndexes(theirs.Indexes))
}

// writeAny writes what there is to write.
func (r *recipientMigration) writeAny(t env.Task, ops []oplog.Op) error {
	if len(ops) == 0 {
		return nil
	}
	return r.write(t, ops...)
}

// missing returns what makes the collection equal to the donor's. An empty one of another
// incarnation is replaced, and the copy that a move of the database's primary has left.
func (r *recipientMigration) missing(options bson.Raw) (ops []oplog.Op, err error) {
	own, exists := r.s.member.Store().Options(r.start.NS)
	if exists {
		uuid, pattern, err := store.DecodeOptions(own)
		if err == nil && uuid == r.start.UUID && !pattern.Unsharded {
			return nil, nil
		}
		n := r.s.member.Store().Count(r.start.NS, store.Latest)
		if n > 0 && !pattern.Unsharded {
			return nil, errcode.New(errcode.IncompatibleShardingMetadata,
				"%s has uuid %q and %d documents here, and uuid %s on %s",
				r.start.NS, uuid, n, r.start.UUID, r.start.From)
		}
		ops = append(ops, r.op(oplog.Drop, "", nil))
	}
	return append(ops, r.op(oplog.Create, "", options)), nil
}

// missingIndexes returns what gives the collection the donor's indexes and no others. Indexes
// change only while no migration runs, so what is read here holds to the end (SERVER-99357).
func (r *recipientMigration) missingIndexes(theirs []command.IndexSpec) (ops []oplog.Op) {
	own := r.s.shard.Indexes(r.start.NS)
	for _, i := range own {
		if !slices.ContainsFunc(
			theirs, func(j command.IndexSpec) bool { return j.Name == i.Name },
		) {
			ops = append(ops, r.op(oplog.DropIndex, i.Name, nil))
		}
	}
	for _, i := range theirs {
		if !slices.ContainsFunc(own, func(j command.IndexSpec) bool {
			return j.Name == i.Name &&
				bytes.Equal(j.Doc, i.Doc)
		}) {
			ops = append(ops, r.op(oplog.CreateIndex, i.Name, i.Doc))
		}
	}
	return ops
}

// insertTask is step 3: from the first document on there is a durable promise to delete them,
// unless the migration commits. Fencing makes sure that no start can insert it after the donor has
// completed the migration.
func (r *recipientMigration) insertTask(t env.Task) error {
	if err := r.at(t, failpoint.RecipientTaskBefore, 0); err != nil {
		return err
	}
	task := r.s.ranges.Add(rangedel.Task{
		Migration: r.start.Migration, NS: r.start.NS, UUID: r.start.UUID, Donor: r.start.From,
		Min: []byte(r.start.Min), Max: []byte(r.start.Max), Pending: true, When: rangedel.Now,
	})
	if err := r.write(t, task); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientTaskLocal, 0); err != nil {
		return err
	}
	if err := statedoc.AwaitMajority(t, r.s.member, r.last); err != nil {
		return err
	}
	return r.at(t, failpoint.RecipientTaskMajority, 0)
}

// task names the range deletion task of this migration.
func (r *recipientMigration) task() rangedel.For {
	return rangedel.For{Migration: r.start.Migration, UUID: r.start.UUID, Range: r.rng()}
}

func (r *recipientMigration) op(kind oplog.Kind, id string, doc bson.Raw) oplog.Op {
	return oplog.Op{
		Kind:        kind,
		NS:          r.start.NS,
		ID:          id,
		Doc:         doc,
		Actor:       uint8(trace.Recipient),
		Tag:         r.start.Migration,
		FromMigrate: true,
	}
}
