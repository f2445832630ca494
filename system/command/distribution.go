package command

import "github.com/shardproof/shardproof/system/codec"

// CollStats asks a router how a collection lies on the shards: those that own chunks of it, or the
// primary shard of its database when it is not sharded. NamespaceNotFound: there is no such
// database.
type CollStats struct{ NS string }

// CollStatsReply answers CollStats, in the order of the shards' names.
type CollStatsReply struct {
	Sharded bool
	Shards  []ShardExtent
}

// ShardExtent is what one shard has of a collection. Documents and Bytes count orphans as well.
type ShardExtent struct {
	Shard            string
	Chunks           int
	Documents, Bytes int64
}

// AvgObjSize is the average size of a document in bytes, rounded down; 0 without documents.
func (x ShardExtent) AvgObjSize() int64 {
	if x.Documents == 0 {
		return 0
	}
	return x.Bytes / x.Documents
}

// ShardsvrCollStats asks the primary of a shard what it has of a collection; it answers with a
// ShardExtent without name and chunks.
type ShardsvrCollStats struct{ NS string }

func init() {
	codec.Register[CollStats]()
	codec.Register[CollStatsReply]()
	codec.Register[ShardExtent]()
	codec.Register[ShardsvrCollStats]()
}
