package migration

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// insertClone writes a batch of the clone.
func (r *recipientMigration) insertClone(t env.Task, docs []bson.Raw) error {
	if err := r.at(t, failpoint.RecipientInsert, len(docs)); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientOrphans, len(docs)); err != nil {
		return err
	}
	ops, added, err := r.upserts(docs)
	if err != nil {
		return err
	}
	return r.writeCounted(t, ops, added)
}

// applyMods applies changes: deletes first, so that a document that was deleted and inserted again
// stays (protocol 6.3, 6.4).
func (r *recipientMigration) applyMods(t env.Task, mods *command.Mods) error {
	if err := r.at(t, failpoint.RecipientDeletes, len(mods.Deletes)); err != nil {
		return err
	}
	ops := r.deletions(mods.Deletes)
	if err := r.writeCounted(t, ops, -len(ops)); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientBetween, 0); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientReloads, len(mods.Reloads)); err != nil {
		return err
	}
	ops, added, err := r.upserts(mods.Reloads)
	if err != nil {
		return err
	}
	return r.writeCounted(t, ops, added)
}

// deletions skips documents that are not here, or are here but outside the range: those belong to
// this shard.
func (r *recipientMigration) deletions(ids []string) (ops []oplog.Op) {
	for _, id := range ids {
		doc := r.s.member.Store().Get(r.start.NS, id, store.Latest)
		if doc != nil && r.covers(doc) {
			ops = append(ops, r.op(oplog.Delete, id, nil))
		}
	}
	return ops
}

// upserts skips documents outside the range, and fails when a document outside the range has the
// _id of one inside.
func (r *recipientMigration) upserts(docs []bson.Raw) (ops []oplog.Op, added int, err error) {
	for _, doc := range docs {
		if !r.covers(doc) {
			continue
		}
		id, err := key.ID(doc)
		if err != nil {
			return nil, 0, err
		}
		kind := oplog.Update
		switch own := r.s.member.Store().Get(r.start.NS, id, store.Latest); {
		case own == nil:
			kind = oplog.Insert
			added++
		case !r.covers(own):
			return nil, 0, errcode.New(errcode.DuplicateKey,
				"the document with _id %s of range %v is here outside the range, too",
				key.Key(id), r.rng())
		}
		ops = append(ops, r.op(kind, id, doc))
	}
	return ops, added, nil
}

// writeCounted writes the operations and the new count of orphans as one entry.
func (r *recipientMigration) writeCounted(t env.Task, ops []oplog.Op, change int) error {
	if len(ops) == 0 {
		return nil
	}
	count, ok := r.s.ranges.Count(r.task(), func(n int64) int64 { return n + int64(change) })
	if ok {
		ops = append(ops, count)
	}
	return r.write(t, ops...)
}

func (r *recipientMigration) covers(doc bson.Raw) bool {
	k, err := r.pattern.Of(doc)
	return err == nil && r.rng().Contains(k)
}
