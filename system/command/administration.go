package command

import (
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// The commands below are an operator's, sent to the primary of the config server.

// AddShard makes a replica set a shard of the cluster. It succeeds when it is one already and has
// that limit, and is an errcode.IllegalOperation when it has another one.
type AddShard struct {
	Name string
	// MaxBytes is from how much data on the balancer of 4.2 gives the shard no more (maxSize,
	// protocol 2.1); 0 is no limit.
	MaxBytes int64
}

// LimitShard changes from how much data on the balancer of 4.2 gives a shard no more; 0 is no
// limit.
type LimitShard struct {
	Name     string
	MaxBytes int64
}

// RemoveShard begins to empty a shard, and removes it once it is empty: the operator repeats the
// command until the answer says RemovalCompleted. The balancer moves the chunks, the operator the
// databases (MovePrimary).
type RemoveShard struct{ Name string }

// RemoveShardReply is the progress of a removal.
type RemoveShardReply struct {
	State RemovalState
	// Chunks are left on the shard, so many of them marked jumbo; Databases have it as their
	// primary.
	Chunks, Jumbo int
	Databases     []string
	// Unfinished says what else keeps the shard from being removed, empty when nothing does.
	Unfinished string
}

// Empty reports whether nothing keeps the shard from being removed.
func (r *RemoveShardReply) Empty() bool {
	return r.Chunks == 0 && len(r.Databases) == 0 && r.Unfinished == ""
}

// RemovalState is a state of a shard's removal.
type RemovalState string

// The states.
const (
	RemovalStarted   RemovalState = "started"
	RemovalOngoing   RemovalState = "ongoing"
	RemovalCompleted RemovalState = "completed"
)

// AddShardToZone lets a shard have ranges of a zone; RemoveShardFromZone takes that away, and is
// refused for the last shard of a zone that has ranges.
type (
	AddShardToZone      struct{ Shard, Zone string }
	RemoveShardFromZone struct{ Shard, Zone string }
)

// UpdateZoneKeyRange gives a range of a collection to a zone. With an empty Zone the range, whose
// bounds must be exactly those of one that was given, is in no zone any more.
type UpdateZoneKeyRange struct {
	NS       string
	Min, Max key.Key
	Zone     string
	// Field is what the bounds are values of, needed while the collection is not sharded: its shard
	// key must then be that.
	Field string
}

// ConfigureCollectionBalancing says how the balancer treats a collection. Nil fields stay as they
// are.
type ConfigureCollectionBalancing struct {
	NS string
	// Enabled is whether chunks of the collection are moved at all (noBalance).
	Enabled *bool
	// ChunkBytes is the size of a chunk that is aimed at; 0 is the cluster's.
	ChunkBytes *int64
	// Defragment has small chunks that lie next to each other joined (8.0).
	Defragment *bool
	// AutoMerge is whether chunks are joined without being asked for (8.0).
	AutoMerge *bool
}

// ClearJumboFlag lets the chunk that holds the key be moved again.
type ClearJumboFlag struct {
	NS string
	At key.Key
}

// FindShard asks any member of the config server, at or after a time, what a majority knows of a
// shard: errcode.ShardNotFound when there is none.
type FindShard struct {
	Name  string
	After hlc.Timestamp
}

// FoundShard answers FindShard.
type FoundShard struct{ Draining bool }

// ShardsvrJoinCluster is sent to the primary of a replica set that is to become a shard. It drops
// collections without documents, which may be of incarnations that have been dropped elsewhere, and
// refuses with errcode.OperationFailed while there are documents or unfinished work.
type ShardsvrJoinCluster struct {
	Name string
	// At is the config server's time: orders to leave of before are of the past.
	At hlc.Timestamp
}

// ShardsvrLeaveCluster asks the primary of a shard without chunks and databases whether a task
// anywhere would wait forever after its removal: errcode.OperationFailed while it takes part in a
// migration or the move of a primary. From then on it receives nothing until it joins again. An
// order of before it joined is refused with errcode.ShardNotFound.
type ShardsvrLeaveCluster struct {
	Name string
	At   hlc.Timestamp
}

func init() {
	codec.Register[FindShard]()
	codec.Register[FoundShard]()
	codec.Register[ShardsvrJoinCluster]()
	codec.Register[ShardsvrLeaveCluster]()
	codec.Register[AddShard]()
	codec.Register[LimitShard]()
	codec.Register[RemoveShard]()
	codec.Register[RemoveShardReply]()
	codec.Register[AddShardToZone]()
	codec.Register[RemoveShardFromZone]()
	codec.Register[UpdateZoneKeyRange]()
	codec.Register[ConfigureCollectionBalancing]()
	codec.Register[ClearJumboFlag]()
}
