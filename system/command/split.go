package command

import (
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/key"
)

// SplitChunk is an operator's command to a router: the chunk that holds the key At is cut there
// (protocol 13.2).
type SplitChunk struct {
	NS string
	At key.Key
}

// MergeChunks is an operator's command to a router: the chunks that make up the range, all on one
// shard, become one.
type MergeChunks struct {
	NS       string
	Min, Max key.Key
}

// ShardsvrSplitChunk asks its owner to cut the chunk with exactly these bounds, at points that
// strictly increase inside it.
type ShardsvrSplitChunk struct {
	NS, Epoch string
	Min, Max  key.Key
	At        []key.Key
}

// ShardsvrMergeChunks asks the owner of all chunks in the range to make them one.
type ShardsvrMergeChunks struct {
	NS, Epoch string
	Min, Max  key.Key
}

// CommitChunkSplit cuts a chunk of a shard in the catalog (protocol 3.2). Sent again after it has
// succeeded it is refused: there is no such chunk any more.
type CommitChunkSplit struct {
	NS, Epoch, Shard string
	Min, Max         key.Key
	At               []key.Key
}

// CommitChunksMerge makes the chunks of a shard that make up the range one. Sent again it changes
// nothing.
type CommitChunksMerge struct {
	NS, Epoch, Shard string
	Min, Max         key.Key
}

// ShardsvrMergeAllChunks asks a shard to have all its chunks of a collection joined that may be:
// neighbours that have been there for longer than the history window, not marked jumbo, in one zone
// (mergeAllChunksOnShard, protocol 13.4).
type ShardsvrMergeAllChunks struct{ NS string }

// CommitMergeAllChunks does that in the catalog. Sent again it changes nothing.
type CommitMergeAllChunks struct{ NS, Shard string }

// SplitVector asks a shard where to split a range so that the parts have the size of a chunk
// (autoSplitVector, protocol 13.1).
type SplitVector struct {
	NS         string
	Min, Max   key.Key
	ChunkBytes int64
	Limit      int // 0 is no limit
}

// SplitVectorReply answers SplitVector with keys that strictly increase inside the range; none when
// it is one part.
type SplitVectorReply struct{ Points []key.Key }

// DataSize asks a shard how much data it has in ranges of a collection, owned or not.
type DataSize struct {
	NS     string
	Ranges []key.Range
}

// DataSizes answers DataSize: bytes in the order of the ranges.
type DataSizes struct{ Bytes []int64 }

func init() {
	codec.Register[DataSize]()
	codec.Register[DataSizes]()
	codec.Register[ShardsvrMergeAllChunks]()
	codec.Register[CommitMergeAllChunks]()
	codec.Register[SplitVector]()
	codec.Register[SplitVectorReply]()
	codec.Register[SplitChunk]()
	codec.Register[MergeChunks]()
	codec.Register[ShardsvrSplitChunk]()
	codec.Register[ShardsvrMergeChunks]()
	codec.Register[CommitChunkSplit]()
	codec.Register[CommitChunksMerge]()
}
