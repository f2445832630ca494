package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// Hello asks a member about its replica set.
type Hello struct{}

// HelloReply is a member's view.
type HelloReply struct {
	Writable bool
	Primary  string // node ID of the primary as far as known
	Term     uint64
	Applied  oplog.Time
	Majority oplog.Time
}

// StepDown asks a primary to hand over to an up-to-date member.
type StepDown struct{}

// StaleInfo is the detail of errcode.StaleConfig.
type StaleInfo struct {
	NS       string
	Shard    string
	Received catalog.Version
	// Wanted is the shard's own version; unknown metadata leaves Known false.
	Wanted catalog.Version
	Known  bool
}

// ShardsvrMoveRange asks the donor to move a range (protocol 5.1). Identical requests join the
// running one.
type ShardsvrMoveRange struct {
	NS          string
	Min         key.Key
	Max         key.Key
	To          string
	WaitDelete  bool
	ForceJumbo  ForceJumbo
	Throttle    WriteConcern
	MigrationOf string // the request's name in the scenario, for traces; no meaning
	Balancer    bool   // the balancer asks, and the commit says so
	// ChunkBytes is the size of a chunk that is aimed at; 0 is the donor's own setting.
	ChunkBytes int64
}

// RecallStatement asks a shard, or a router all owners of a collection, whether a statement of a
// retryable write is on record. It is answered with Written, which is Retried if so.
type RecallStatement struct {
	NS        string
	Statement Session
	Concern   WriteConcern
}

// FlushRoutingTableCacheUpdates has the shard's primary refresh its knowledge of a collection and
// answer when that is in the copy that its secondaries read, behind a critical section that blocks
// writes (protocol 3.4 step 5).
type FlushRoutingTableCacheUpdates struct{ NS string }

// Flushed says where in the log the copy is. Another member may use it once it holds the entry At:
// then it holds every document that came with the ranges.
type Flushed struct{ At oplog.Time }

// AppendOplogNote asks a primary for an entry, if it has none, that is not older than Time, so that
// who waits for that time on another member does not wait for the next write.
type AppendOplogNote struct{ Time hlc.Timestamp }

// RecvChunkStart opens a migration on the recipient (protocol 5.2). Lsid and Txn fence it (protocol
// 9.3).
type RecvChunkStart struct {
	Migration string
	Session   string // migration session id
	NS        string
	Min, Max  key.Key
	From, To  string
	Lsid      string
	Txn       int64
	UUID      string
	Epoch     string
	Throttle  WriteConcern
}

// RecvChunkStatus asks how the recipient is doing.
type RecvChunkStatus struct {
	Session string
	// WaitForSteady holds the answer until the recipient is steady or done, for at most a second.
	WaitForSteady bool
}

// RecvStatus is the recipient's answer.
type RecvStatus struct {
	Active   bool
	Session  string
	NS       string
	Min, Max key.Key
	From     string
	State    string
	Error    string
	Waited   bool
	// SessionCatchUp is true once the history of sessions is transferred but for what is new.
	SessionCatchUp bool
	Cloned         int
	CatchUp        int
	Steady         int
}

// RecvChunkCommit informs the recipient that the donor blocks writes; it answers from inside its
// critical section.
type RecvChunkCommit struct{ Session string }

// RecvChunkAbort ends the recipient's part.
type RecvChunkAbort struct{ Session string }

// RecvChunkReleaseCritSec informs the recipient that the outcome is final.
type RecvChunkReleaseCritSec struct {
	Session   string
	Migration string
}

// MigrateClone asks the donor for the next documents of the clone. Requests of one kind are
// numbered from 1: the same number again gets the same answer, so that a lost answer loses no
// documents and a duplicated request skips none.
type MigrateClone struct {
	Session string
	Number  uint64
}

// TransferMods asks the donor for what changed since; numbered as MigrateClone.
type TransferMods struct {
	Session string
	Number  uint64
}

// Mods is the answer to MigrateClone (Reloads only) and TransferMods.
type Mods struct {
	Deletes []string // encoded _ids
	Reloads []bson.Raw
	// More is true when the answer is empty of documents in range but not the end (SERVER-78414).
	More bool
}

// NextSessionMods asks the donor for session history; numbered as MigrateClone.
type NextSessionMods struct {
	Session string
	Number  uint64
}

// CollectionOptions asks a shard how a collection was made, which its recipient repeats (protocol
// 5.2 step 2).
type CollectionOptions struct {
	NS string
	// Session is the migration session that asks. In 4.2, where nothing else distinguishes an
	// outdated start from a valid one, the donor answers only while that session clones.
	Session string
}

// CollectionOptionsReply answers CollectionOptions: {uuid, key}, the indexes besides that of the
// shard key, and the names by which statements on the collection may be known. Rekeyed says that
// the collection was unsharded, and that its documents had other keys then.
type CollectionOptionsReply struct {
	Options  bson.Raw
	Indexes  []IndexSpec
	Formerly []string
	Rekeyed  bool
}

// IndexSpec is an index of a collection.
type IndexSpec struct {
	Name string
	Doc  bson.Raw
}

// SessionMods is session history in the order of the donor's log.
type SessionMods struct {
	Stmts []oplog.Stmt
	// CaughtUp is true when nothing was left but what is new.
	CaughtUp bool
}

// The operations below are those by which a donor, or its successor, completes a migration on the
// recipient (protocol 9.1). All of them are idempotent.

// AdvanceTxn fences everything of the migration's session older than Txn on the recipient.
type AdvanceTxn struct {
	Lsid string
	Txn  int64
}

// RangeTaskOp reads or changes a range deletion task of another shard.
type RangeTaskOp struct {
	Migration string
	NS        string
	UUID      string
	Min, Max  key.Key
	// Op is "delete", "ready" or "orphans".
	Op string
}

// RangeTaskReply answers RangeTaskOp.
type RangeTaskReply struct {
	Found   bool
	Orphans int64
}

// AwaitRangeDeletion waits until the shard deletes nothing of the collection in a range: who asked
// for a migration with waitForDelete, and did not get the donor's answer, asks for it.
type AwaitRangeDeletion struct {
	NS, UUID string
	Min, Max key.Key
}

// Audit asks a member for everything the final checks compare; it is answered in any state.
type Audit struct{ NS string }

// AuditReply is a member's state.
type AuditReply struct {
	Shard            string
	Node             string
	Writable         bool
	Applied          oplog.Time
	Documents        []bson.Raw // all documents of NS, in the order of the shard key
	UUID             string     // of NS, empty when it is not here
	Indexes          []IndexSpec
	Checksum         uint64 // over all namespaces that must be equal on all members
	Known            bool   // the filtering metadata is known
	Version          catalog.Version
	Owned            []key.Range
	RangeDeletions   []bson.Raw
	Coordinators     []bson.Raw
	Recipients       []bson.Raw
	CriticalSections []string
	OpenCursors      int
	ActiveMigrations []string
	OutstandingTasks []string
}
