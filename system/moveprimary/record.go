package moveprimary

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/hlc"
)

// Namespace holds the records of moves away from the shard.
const Namespace = "config.movePrimaryCoordinators"

// Phase is how far a move has come.
type Phase string

// The phases (protocol 15).
const (
	// The recipient copies, writes are refused.
	Cloning Phase = "clone"
	// The critical section blocks writes; the history of sessions is handed over.
	CatchUp Phase = "catchup"
	// Reads are blocked, too.
	EnterCritSec Phase = "enterCriticalSection"
	// The config server commits.
	Commit Phase = "commit"
	// The database has moved.
	ExitCritSec Phase = "exitCriticalSection"
	// What was moved is dropped here.
	Cleaning Phase = "clean"
)

// entered is the phase as events have it.
func (p Phase) entered() trace.PrimaryMovePhase {
	phase, _ := trace.ParsePrimaryMovePhase(string(p))
	return phase
}

// Record is what the shard must not forget of a move: from before the recipient learns of it until
// everything is done.
type Record struct {
	Move     string `bson:"_id"`
	Database string `bson:"db"`
	From     string `bson:"fromShard"`
	To       string `bson:"toShard"`
	Lsid     string `bson:"lsid"`
	Txn      int64  `bson:"txnNumber"`
	Phase    Phase  `bson:"phase"`
	// UUID, Timestamp and LastMod are the database's version before the move: what fences the
	// commit.
	UUID      string        `bson:"uuid"`
	Timestamp hlc.Timestamp `bson:"timestamp"`
	LastMod   int64         `bson:"lastMod"`
	// Collections are those that move. No other is ever dropped.
	Collections []collectionSpec `bson:"collectionsToClone"`
}

type collectionSpec struct {
	NS       string              `bson:"nss"`
	Options  bson.Raw            `bson:"options"`
	Indexes  []command.IndexSpec `bson:"indexes"`
	Formerly []string            `bson:"formerly,omitempty"`
}

// committing reports whether the move may have been committed.
func (r *Record) committing() bool {
	return r.Phase == Commit || r.Phase == ExitCritSec || r.Phase == Cleaning
}

func (r *Record) version() catalog.DatabaseVersion {
	return catalog.DatabaseVersion{UUID: r.UUID, Timestamp: r.Timestamp, LastMod: uint32(r.LastMod)}
}

// expect notes the version from which the database moves. Every move that is committed raises it,
// so that the transaction numbers of two donors are in the order in which they had the database.
func (r *Record) expect(v catalog.DatabaseVersion) {
	r.Txn |= int64(v.LastMod) << versionShift
	r.UUID, r.Timestamp, r.LastMod = v.UUID, v.Timestamp, int64(v.LastMod)
}

func (r *Record) collections() []command.UnshardedCollection {
	all := make([]command.UnshardedCollection, len(r.Collections))
	for i, c := range r.Collections {
		all[i] = command.UnshardedCollection(c)
	}
	return all
}

func (r *Record) namespaces() []string {
	all := make([]string, len(r.Collections))
	for i, c := range r.Collections {
		all[i] = c.NS
	}
	return all
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
