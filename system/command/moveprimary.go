package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// MovePrimary is the operator's command to a router: the unsharded collections of a database go to
// another shard (protocol 15).
type MovePrimary struct {
	Database string
	To       string
}

// ShardsvrMovePrimary passes it to the primary shard. Identical requests join the running one.
type ShardsvrMovePrimary struct {
	Database string
	To       string
}

// GetDatabase reads the catalog with majority read concern at or after After. Any member of the
// config server may answer.
type GetDatabase struct {
	Name  string
	After hlc.Timestamp
	// Newest is described with GetRoutingTable.
	Newest bool
}

// OfPrimary is the question with Newest set.
func (r GetDatabase) OfPrimary() env.Message {
	r.Newest = true
	return &r
}

// DatabaseReply answers GetDatabase.
type DatabaseReply struct {
	Database catalog.Database
	// Sharded are the namespaces of the database that are sharded, in order.
	Sharded []string
}

// CommitMovePrimary makes To the primary shard of the database if its version is still Expected.
// Anything else is an errcode.StaleDbVersion; the sender finds out whether it had committed already
// by reading the database.
type CommitMovePrimary struct {
	Database string
	Expected catalog.DatabaseVersion
	To       string
	Move     string
}

// UnshardedCollection is a collection that moves: its identity and how it was made, which are its
// options, its indexes, and the names by which statements on it may be known.
type UnshardedCollection struct {
	NS       string
	Options  bson.Raw
	Indexes  []IndexSpec
	Formerly []string
}

// AssertNoCollections fails when the shard has one of the namespaces, or work left from having been
// the database's primary.
type AssertNoCollections struct {
	Database   string
	Namespaces []string
}

// CloneCatalogData has the recipient copy collections from the primary shard, and answers when a
// majority has them. It is not idempotent: only the primary that began may be asked again. Lsid and
// Txn fence it.
type CloneCatalogData struct {
	Move        string
	Database    string
	From        string
	Lsid        string
	Txn         int64
	Collections []UnshardedCollection
}

// ClonedCatalogData lists the namespaces that were copied.
type ClonedCatalogData struct{ Namespaces []string }

// ClonePage asks the primary shard for documents of a collection that moves, in the order of their
// encoded _id, behind After. As the collection does not change meanwhile, it may be asked for
// twice.
type ClonePage struct {
	Move  string
	NS    string
	After string
}

// Page answers ClonePage; an empty one is the end.
type Page struct{ Docs []bson.Raw }

// ImportSessions hands the statements of retryable writes over, each session's in the order of
// their execution. Lsid and Txn are those of the clone that they belong to: one that was fenced
// takes no history either.
type ImportSessions struct {
	Move  string
	Lsid  string
	Txn   int64
	Stmts []oplog.Stmt
}

// DropClonedData fences the clone of Lsid and Txn and drops what it has copied.
type DropClonedData struct {
	Lsid        string
	Txn         int64
	Collections []UnshardedCollection
}
