package configsvr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// The namespaces of the catalog (protocol 2.1).
const (
	Collections = "config.collections"
	Chunks      = "config.chunks"
	Shards      = "config.shards"
	Changelog   = "config.changelog"
	Databases   = "config.databases"
	Tags        = "config.tags"
	Settings    = "config.settings"
)

// ReadTable reads a collection's routing table from the documents of a member at an index. A
// collection that is not sharded is where its database is; without a database there is none:
// errcode.NamespaceNotFound.
func ReadTable(data *store.Store, ns string, at uint64) (*catalog.Table, error) {
	doc := data.Get(Collections, string(key.String(ns)), at)
	if doc == nil {
		return readUnsharded(data, ns, at)
	}
	coll, err := catalog.DecodeCollection(doc)
	if err != nil {
		return nil, err
	}
	var chunks []catalog.Chunk
	data.ScanKey(Chunks, catalog.ChunkIDs(coll.UUID), at, store.Place{},
		func(_ key.Key, _ string, doc bson.Raw) bool {
			var c catalog.Chunk
			c, err = catalog.DecodeChunk(coll, doc)
			chunks = append(chunks, c)
			return err == nil
		})
	if err != nil {
		return nil, err
	}
	return catalog.NewTable(coll, chunks)
}

// latest is the table as the primary has it now.
func (b *catalogReader) latest(ns string) (*catalog.Table, error) {
	return b.table(ns, b.log.Applied().Index)
}

// Shard is a document of config.shards.
type Shard struct {
	Name string `bson:"_id"`
	Host string `bson:"host"`
	// Draining means that the shard is being removed: it takes no chunks.
	Draining bool `bson:"draining,omitempty"`
	// MaxBytes is from how much data on the balancer gives the shard no more; 0 is no limit (4.2,
	// protocol 2.1).
	MaxBytes int64 `bson:"maxSize,omitempty"`
	// Zones are those whose ranges the shard may have.
	Zones []string `bson:"tags,omitempty"`
}

// shard returns the document of a shard as the primary has it now: errcode.ShardNotFound when there
// is none.
func (b *catalogReader) shard(name string) (Shard, error) {
	return ReadShard(b.log.Store(), name, store.Latest)
}

// ReadShard reads a shard from the documents of a member at an index: errcode.ShardNotFound when
// there is none.
func ReadShard(data *store.Store, name string, at uint64) (doc Shard, err error) {
	raw := data.Get(Shards, string(key.String(name)), at)
	if raw == nil {
		return doc, errcode.New(errcode.ShardNotFound, "there is no shard %q", name)
	}
	return doc, bson.Unmarshal(raw, &doc)
}
