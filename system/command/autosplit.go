package command

import (
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/key"
)

// GetSplitPolicy is a shard's question to the config server of 4.2, before it splits a chunk of
// itself.
type GetSplitPolicy struct{ NS string }

// SplitPolicy answers GetSplitPolicy with what operators have set.
type SplitPolicy struct {
	// ChunkBytes is the size of a chunk that is aimed at.
	ChunkBytes int64
	// AutoSplit is whether chunks are split without being asked for.
	AutoSplit bool
	// Balancing is whether the balancer may move chunks of the collection now.
	Balancing bool
}

// RebalanceChunk asks the config server of 4.2 to move a chunk with exactly these bounds to where
// the balancer thinks best (top-chunk optimisation). It answers as soon as the balancer has taken
// that over, and succeeds as well when the chunk is best where it is.
type RebalanceChunk struct {
	NS, Epoch string
	Min, Max  key.Key
}

func init() {
	codec.Register[GetSplitPolicy]()
	codec.Register[SplitPolicy]()
	codec.Register[RebalanceChunk]()
}
