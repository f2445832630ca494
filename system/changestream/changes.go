package changestream

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// Changes are the changes of a collection that an entry of a shard's log contains.
func Changes(shard, ns string, e *oplog.Entry) (all []command.Change) {
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.NS != ns || op.FromMigrate {
			continue
		}
		if c, ok := changeFromOp(op); ok {
			c.Token = command.Token{TS: e.TS, Shard: shard, N: i}
			all = append(all, c)
		}
	}
	return all
}

// cameWithDatabase says that an entry has made an unsharded collection that another shard had.
func cameWithDatabase(ns string, e *oplog.Entry) bool {
	return slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
		if op.Kind != oplog.Create || op.NS != ns || !op.FromMigrate {
			return false
		}
		_, pattern, err := store.DecodeOptions(op.Doc)
		return err == nil && pattern.Unsharded
	})
}

func changeFromOp(op *oplog.Op) (command.Change, bool) {
	switch op.Kind {
	case oplog.Insert:
		return command.Change{Kind: command.ChangeInsert, Key: documentKey(op), Doc: op.Doc}, true
	case oplog.Update:
		kind := command.ChangeUpdate
		if op.Replaces {
			kind = command.ChangeReplace
		}
		return command.Change{Kind: kind, Key: documentKey(op), Doc: op.Doc}, true
	case oplog.Delete:
		return command.Change{Kind: command.ChangeDelete, Key: documentKey(op)}, true
	case oplog.Drop:
		return command.Change{Kind: command.ChangeDrop}, true
	case oplog.Rename:
		return command.Change{Kind: command.ChangeRename, To: op.ID}, true
	case oplog.Noop:
		to, announced := Announced(op)
		return command.Change{Kind: command.ChangeNewShard, Shard: to}, announced
	}
	return command.Change{}, false
}

// documentKey is what the change is said to be of: of a sharded collection the shard key and the
// _id, as documents on several shards may have one _id; else the _id alone.
func documentKey(op *oplog.Op) bson.Raw {
	if op.DocumentKey != nil {
		return op.DocumentKey
	}
	id, err := key.Decode(key.Key(op.ID))
	if err == nil {
		var doc bson.Raw
		if doc, err = bson.Marshal(bson.D{{Key: "_id", Value: id}}); err == nil {
			return doc
		}
	}
	panic("changestream: _id " + key.Key(op.ID).String() + " cannot be decoded: " + err.Error())
}

// The types of entries without effect by which a donor informs readers of a collection of a
// migration, and a recipient those of unsharded collections of a move of their database.
const (
	newShard  = "migrateChunkToNewShard"
	lastChunk = "migrateLastChunkFromShard"
	arrival   = "movePrimaryToShard"
)

// Arrival is a recipient's entry that says: what happened before to the unsharded collections of
// the database, also to those that are no more, is in the log of another shard. Nobody writes to
// them from here on until the move has ended.
func Arrival(database string) oplog.Op {
	doc, err := bson.Marshal(bson.D{{Key: "type", Value: arrival}})
	if err != nil {
		panic(err)
	}
	return oplog.Op{Kind: oplog.Noop, NS: database, Doc: doc}
}

// arrived says that an entry is the Arrival of the collection's database.
func arrived(ns string, e *oplog.Entry) bool {
	return slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
		return op.NS == catalog.DatabaseOf(ns) && IsArrival(&op)
	})
}

// IsArrival reports whether an operation is the Arrival of a database.
func IsArrival(op *oplog.Op) bool {
	if op.Kind != oplog.Noop || op.Doc == nil {
		return false
	}
	what, _ := op.Doc.Lookup("type").StringValueOK()
	return what == arrival
}

// Announcement is a donor's entry that says: shard to may get its first chunk, by the migration
// that this shard begins.
func Announcement(ns, from, to string) oplog.Op { return noticeOp(ns, newShard, from, to) }

// Departure is a donor's entry that says: no chunk is left here. Readers go on reading: nothing
// promises that a chunk that comes back is announced after it, and a shard without chunks costs
// them little.
func Departure(ns, from, to string) oplog.Op { return noticeOp(ns, lastChunk, from, to) }

func noticeOp(ns, what, from, to string) oplog.Op {
	doc, err := bson.Marshal(bson.D{
		{Key: "type", Value: what},
		{Key: "from", Value: from},
		{Key: "to", Value: to},
	})
	if err != nil {
		panic(err)
	}
	return oplog.Op{Kind: oplog.Noop, NS: ns, Doc: doc}
}

// Announced is the shard that an Announcement names; false for every other operation.
func Announced(op *oplog.Op) (to string, ok bool) {
	if op.Kind != oplog.Noop || op.Doc == nil {
		return "", false
	}
	if what, ok := op.Doc.Lookup("type").StringValueOK(); !ok || what != newShard {
		return "", false
	}
	return op.Doc.Lookup("to").StringValueOK()
}
