// Package command holds the commands that nodes send each other: plain structs with exported
// fields, one file for each role that serves them. The names are those of MongoDB's commands.
//
// Promise: a command is never changed after it was sent. Every type is registered with the codec,
// which is how a world proves that nodes share no state.
//
// Refusal: it has no behaviour: what a command does is in the package of the role that serves it.
package command

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
)

// DriverSession is how the names of drivers' sessions begin. A shard forgets them in the end.
const DriverSession = "client/"

// Session identifies a statement of a retryable write; the zero Session means that the write is not
// retryable.
type Session struct {
	ID   string
	Txn  int64
	Stmt int32
}

// WriteConcern says when a write counts as done.
type WriteConcern struct {
	// Majority waits until a majority has it durably. Otherwise W members must have it in their
	// logs; W of 0 or 1 means that the primary's own is enough.
	Majority bool
	W        int
	// Timeout bounds the wait; zero means the cluster's setting. When it ends, the write stays and
	// the error is errcode.WriteConcernFailed.
	Timeout time.Duration
}

// Majority is the write concern of everything that must not be lost.
var Majority = WriteConcern{Majority: true}

// ReadConcern says which data a read may return.
type ReadConcern string

// The read concerns.
const (
	// Local returns what the primary has applied; it may be rolled back later.
	Local ReadConcern = "local"
	// MajorityRead returns what is known to be committed; a deposed primary may return old data.
	MajorityRead ReadConcern = "majority"
	// Linearizable returns data that was the newest at some instant of the call.
	Linearizable ReadConcern = "linearizable"
	// Available does not check versions and may return orphans.
	Available ReadConcern = "available"
	// Snapshot returns the committed state of one cluster time on all shards (protocol 11).
	Snapshot ReadConcern = "snapshot"
)

// Placement is what a router attaches to a request to a shard (protocol 3.4). The zero Placement
// means that the request is not versioned.
type Placement struct {
	Versioned bool
	// Database means that the collection is not sharded: Shard is made of the database's version,
	// and a shard that disagrees answers errcode.StaleDbVersion.
	Database bool
	Shard    catalog.Version
}

// PlacementBy is what a router attaches to a request that it sends to a shard by its table.
func PlacementBy(table *catalog.Table, shard string) Placement {
	return Placement{
		Versioned: true,
		Database:  table.Collection().Unsharded,
		Shard:     table.ShardVersion(shard),
	}
}

// Insert adds documents one after the other; the first failure ends it.
type Insert struct {
	NS      string
	Docs    []bson.Raw
	Session Session // of the first document; document i has statement Stmt+i
	// Implicit makes an unsharded collection that there is not yet, and its database. Without it
	// that is an errcode.NamespaceNotFound: what was sharded and is dropped stays away.
	Implicit bool
	Concern  WriteConcern
	Place    Placement
}

// Update changes at most one document that matches Filter, which must fix the shard key unless the
// collection is not sharded.
type Update struct {
	NS     string
	Filter bson.Raw
	Change bson.Raw // a replacement, or operators
	// Sort says which of several documents is meant; nil is the first by shard key.
	Sort   bson.Raw
	Upsert bool
	// NewID is {_id: value} for an upsert to which neither Filter nor Change gives an _id.
	NewID    bson.Raw
	Implicit bool // as of an Insert
	Session  Session
	Concern  WriteConcern
	Place    Placement
}

// Delete removes at most one document that matches Filter, which must fix the shard key unless the
// collection is not sharded.
type Delete struct {
	NS      string
	Filter  bson.Raw
	Session Session
	Concern WriteConcern
	Place   Placement
}

// FindAndModify changes or removes at most one document and returns what it replaced.
type FindAndModify struct {
	NS     string
	Filter bson.Raw
	Change bson.Raw // nil with Remove
	Sort   bson.Raw // as of an Update
	Remove bool
	Upsert bool
	NewID  bson.Raw // as of an Update
	New    bool     // return the document after the change instead
	// Fields is the projection by which the document will be shown, nil for none. A change is
	// refused if its document cannot be shown like that.
	Fields   bson.Raw
	Implicit bool // as of an Insert
	Session  Session
	Concern  WriteConcern
	Place    Placement
}

// Written is the response to every write.
type Written struct {
	N, Modified int
	Upserted    bool
	// Image is the document before (or with New, after) a findAndModify; nil when there was none.
	Image bson.Raw
	// Retried is true when the statement, or each of several, had been executed before and this is
	// its recorded result.
	Retried bool
	// ConcernError is empty or says why the write concern is not satisfied though the write was
	// applied.
	ConcernError string
	// Refused is, of an insert of several documents, why the one was refused that comes after the N
	// that were inserted, and Why the sentence; those after it were not tried. Empty: none was.
	Refused errcode.Code
	Why     string
	// Time is the operation time: of the log entry that the statement made, or of the newest entry
	// that its result rests on when it made none in this attempt.
	Time hlc.Timestamp
}

// Find opens a query. Results come in the order of the shard key.
type Find struct {
	NS        string
	Filter    bson.Raw // equality and $gt, $gte, $lt, $lte, $in on fields
	BatchSize int      // 0: everything
	Concern   ReadConcern
	Place     Placement
	// After is the afterClusterTime of a causal session: what is returned is not older. Zero asks
	// for nothing.
	After hlc.Timestamp
	// At is the atClusterTime of a Snapshot read, of which the router picks one when it is zero.
	At hlc.Timestamp
	// Secondary lets a member answer that is not primary.
	Secondary bool
}

// GetMore continues a query. Batches may be numbered from 1: the same number again gets the same
// batch, so that a duplicated request skips no documents. With Number 0 every request gets the next
// batch.
type GetMore struct {
	Cursor    string
	BatchSize int
	Number    int
}

// KillCursors ends queries; unknown cursors are ignored.
type KillCursors struct{ Cursors []string }

// Batch is the response to Find and GetMore. An empty Cursor means that the query is exhausted.
type Batch struct {
	Cursor string
	Docs   []bson.Raw
	// Time is the operation time: that of the state which was read or, where states pass while a
	// query runs, of the last.
	Time hlc.Timestamp
	// Since is a cluster time up to which every shard had committed everything when its part of the
	// query was let in: no document was read in a state before. Zero: nothing is said.
	Since hlc.Timestamp
}

// Done is the response of commands that only succeed or fail.
type Done struct{}
