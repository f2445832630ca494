package catalog

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// Chunk is a range of shard keys and the shard that owns it.
type Chunk struct {
	key.Range
	Shard   string
	Version Version
	// History says where the range was since when, newest first; the first entry is the owner. It
	// is never changed in place.
	History []Placement
	Jumbo   bool
	// OnCurrentShardSince is the ValidAfter of the newest placement.
	OnCurrentShardSince hlc.Timestamp
}

// Placement says that from a time on a shard owned the range.
type Placement struct {
	ValidAfter hlc.Timestamp
	Shard      string
}

// Equal reports whether nothing about the chunks differs.
func (c Chunk) Equal(o Chunk) bool {
	return c.Range == o.Range && c.Shard == o.Shard && c.Version == o.Version &&
		c.Jumbo == o.Jumbo &&
		c.OnCurrentShardSince == o.OnCurrentShardSince && slices.Equal(c.History, o.History)
}

// ShardAt returns the owner at a time; errcode.StaleChunkHistory when that is no longer known.
func (c Chunk) ShardAt(ts hlc.Timestamp) (string, error) {
	for _, p := range c.History {
		if p.ValidAfter <= ts {
			return p.Shard, nil
		}
	}
	return "", errcode.New(errcode.StaleChunkHistory, "the owner of %v at %v is not known any more",
		c.Range, ts)
}

// String is "[3, 17) shard-a 5|1||epoch".
func (c Chunk) String() string { return fmt.Sprintf("%v %s %v", c.Range, c.Shard, c.Version) }

// Collection is what the catalog knows about a collection besides its chunks.
type Collection struct {
	NS   string
	UUID string
	// Epoch and Timestamp change when the collection is dropped and made again.
	Epoch     string
	Timestamp hlc.Timestamp
	Key       key.Pattern
	// AllowMigrations is false while an operation on the collection forbids them.
	AllowMigrations bool
	Balancing
	// Unsharded means that the collection lives on the primary shard of its database, whose version
	// its one chunk has.
	Unsharded bool
}

// Balancing is how the balancer treats a collection. The zero value is how it treats every
// collection.
type Balancing struct {
	// NoBalance keeps the balancer from moving chunks; operators may.
	NoBalance bool
	// ChunkBytes is the size of a chunk that is aimed at; 0 is the cluster's.
	ChunkBytes int64
	// Defragment has small chunks that lie next to each other joined (8.0).
	Defragment bool
	// NoAutoMerge keeps chunks from being joined without being asked for (8.0).
	NoAutoMerge bool
}

// Version is the collection's incarnation with a major and minor version of 0.
func (c Collection) Version() Version { return Version{Epoch: c.Epoch, Timestamp: c.Timestamp} }
