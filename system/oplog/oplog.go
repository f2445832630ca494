// Package oplog is what a replica set logs: an entry holds one or more operations that happen
// together, each with the document it leaves behind, so that applying an entry twice or on another
// member gives the same state.
//
// Promise: an entry is encoded in one way only, and decodes to what was encoded; it is not changed
// after it was appended.
//
// Refusal: it stores and replicates nothing; replset does.
package oplog

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/hlc"
)

// Time is a place in a replica set's log. Only places of one replica set are comparable. The zero
// Time is before the first entry.
type Time struct{ Term, Index uint64 }

// String is "term.index".
func (t Time) String() string { return fmt.Sprintf("%d.%d", t.Term, t.Index) }

// Less orders places by index; terms never decrease along a log.
func (t Time) Less(u Time) bool { return t.Index < u.Index }

// Kind says what an operation does to the store.
type Kind uint8

// The kinds of operations.
const (
	Noop Kind = iota
	Insert
	Update
	Delete
	Create      // NS is made, Doc holds its options: {uuid, key: pattern or absent}
	Drop        // NS is removed with everything in it
	CreateIndex // NS gets the index ID, Doc describes it
	DropIndex   // NS loses the index ID
	Rename      // NS and everything in it becomes ID, a namespace that does not exist
	Shard       // NS, with what is in it, gets a shard key: Doc holds its options from now on
)

var kindNames = [...]string{
	"noop", "insert", "update", "delete", "create", "drop", "createIndex", "dropIndex", "rename",
	"shard",
}

// String is the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Op is one operation on one document.
type Op struct {
	Kind Kind
	NS   string
	// ID is the encoded _id (key.Encode), or a name where Kind says so.
	ID string
	// Doc is the whole document after the operation; nil for Delete. For a Noop it is free text for
	// readers of the log.
	Doc bson.Raw
	// DocumentKey is what readers of changes know the document by, if that is more than its _id:
	// also the field of the shard key (protocol 12).
	DocumentKey bson.Raw
	// Actor is a value of trace.Actor: on whose behalf.
	Actor uint8
	// Tag is the session, migration or task on whose behalf, for the oracles; may be empty.
	Tag string
	// FromMigrate marks writes of migration and range deletion, which neither capture nor change
	// streams see (protocol 6.1, 12).
	FromMigrate bool
	// Replaces is set for an Update that replaced the document, unlike one that changed some of its
	// fields.
	Replaces bool
	// Stmt is set for a statement of a retryable write, and for a Noop that re-logs one on a
	// recipient.
	Stmt *Stmt
}

// Stmt is the history of one executed statement of a session (protocol 7).
type Stmt struct {
	Session string
	Txn     int64
	ID      int32
	// NS and Key are the namespace and the encoded shard key the statement touched; they decide
	// whether it moves with a chunk. Empty Key: unknown, moves with every chunk of the namespace.
	NS  string
	Key string
	// Prev is the log place of the session's statement before this one; zero for the first.
	Prev Time
	// Result is what a retry returns: {n, nModified, upserted, ...}; Image is the pre- or
	// post-image of a findAndModify.
	Result bson.Raw
	Image  bson.Raw
	// DeadEnd marks incomplete history: a retry of any statement not known must fail rather than
	// execute.
	DeadEnd bool
}

// Entry is one unit of the log: all of its operations apply or none.
type Entry struct {
	// TS strictly increases along the log.
	TS  hlc.Timestamp
	Ops []Op
}
