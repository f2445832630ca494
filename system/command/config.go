package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// GetRoutingTable reads the catalog with majority read concern at or after After. Any member may
// answer.
type GetRoutingTable struct {
	NS string
	// Since is the collection version of the requester's table; chunks at or above it are returned,
	// all of them when the incarnation differs or Since is zero (protocol 3.4 step 4).
	Since catalog.Version
	After hlc.Timestamp
	// Newest is true when only the primary may answer, with proof that nothing newer was acknowledged.
	Newest bool
}

// OfPrimary is the question with Newest set.
func (r GetRoutingTable) OfPrimary() env.Message {
	r.Newest = true
	return &r
}

// RoutingUpdate is a consistent piece of the catalog.
type RoutingUpdate struct {
	Collection catalog.Collection
	Chunks     []catalog.Chunk
	// Full is true when Chunks is the whole table.
	Full bool
	At   hlc.Timestamp
}

// CommitChunkMigration moves a range in the catalog (protocol 3.2, 3.3).
type CommitChunkMigration struct {
	NS       string
	UUID     string
	Epoch    string
	From, To string
	Min, Max key.Key
	// PreVersion is the version of the chunk before the migration; a newer one means that the donor
	// was fenced. 4.2 does not look at it.
	PreVersion catalog.Version
	// ValidAfter is from when on the recipient owns the range, by the donor's clock: 4.2 only,
	// later the config server dates the commit itself (errata E17).
	ValidAfter hlc.Timestamp
	Migration  string
	// Balancer is true when the balancer asked for the migration: it is refused once the balancer
	// was stopped.
	Balancer bool
}

// CommitReply holds the versions after a change of the catalog.
type CommitReply struct {
	ShardVersion      catalog.Version
	CollectionVersion catalog.Version
}

// EnsureChunkVersionIsGreaterThan fences late commits of a dead donor (protocol 9.2 step 1).
type EnsureChunkVersionIsGreaterThan struct {
	NS       string
	UUID     string
	Min, Max key.Key
	Version  catalog.Version
}

// MoveRange is the operator's command to the config server, which passes it to the donor.
type MoveRange struct {
	NS       string
	Min, Max key.Key
	// Find, when it is set, means the chunk that holds the key instead of a range (moveChunk).
	Find       key.Key
	To         string
	WaitDelete bool
	ForceJumbo ForceJumbo
	// Throttle is the write concern of each batch on the recipient (secondaryThrottle); zero: the
	// primary's own is enough.
	Throttle WriteConcern
	Name     string
	// Balancer is true when it is the balancer that asks.
	Balancer bool
	// ChunkBytes is the size of a chunk that is aimed at; 0 is the donor's setting.
	ChunkBytes int64
}

// ForceJumbo says what becomes of a chunk that is too big to be moved (protocol 6.6).
type ForceJumbo string

// The values of ForceJumbo.
const (
	// RefuseJumbo fails with errcode.ChunkTooBig.
	RefuseJumbo ForceJumbo = ""
	// ForceManual clones it while writes are blocked, however long that takes.
	ForceManual ForceJumbo = "manual"
	// ForceBalancer clones it along the shard key instead of from a list.
	ForceBalancer ForceJumbo = "balancer"
)

// ShardCollection makes a sharded collection with its first chunks. Bounds are the inner bounds;
// chunk i goes to Shards[i mod len(Shards)], without Shards to those that do not drain in turn.
// Without Shards and Bounds the chunks follow the collection's zones; with a hashed key they are
// equal shares; and otherwise there is one.
type ShardCollection struct {
	NS     string
	Key    key.Pattern
	Bounds []key.Key
	Shards []string
	// InitialChunks is at least how many chunks a hashed key gets, as many on each shard; 0 is two
	// on each (numInitialChunks).
	InitialChunks int
	// Session makes the request be executed at most once; the zero Session does not.
	Session Session
}

// LogChange adds an entry to the changelog with majority.
type LogChange struct {
	What string
	NS   string
	// Details is a document in the words of MongoDB's changelog; nil for none.
	Details bson.Raw
}
