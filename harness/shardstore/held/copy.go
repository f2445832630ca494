package held

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// LacksCopy says what keeps secondaries from reading the copy of a collection's routing table as it
// was among a primary's documents at an index; empty when nothing does.
func LacksCopy(s *store.Store, ns string, at uint64) string {
	doc := s.Get(shard.CacheNS, string(key.String(ns)), at)
	if doc == nil {
		return "there is no copy"
	}
	if replaced, _ := doc.Lookup("refreshing").BooleanOK(); replaced {
		return "the chunks of the copy are still being replaced"
	}
	raw, has := doc.Lookup("collection").DocumentOK()
	if !has {
		return "the copy does not say of which collection it is"
	}
	coll, err := catalog.DecodeCollection(raw)
	if err != nil {
		return "the copy cannot be read: " + err.Error()
	}
	if unsharded, _ := doc.Lookup("unsharded").BooleanOK(); unsharded {
		coll.Unsharded, coll.Key = true, catalog.Unsharded
	}
	var chunks []catalog.Chunk
	s.Scan(shard.CacheChunks(ns), at, func(_ string, raw bson.Raw) bool {
		var chunk catalog.Chunk
		chunk, err = catalog.DecodeChunk(coll, raw)
		chunks = append(chunks, chunk)
		return err == nil
	})
	if err != nil {
		return "a chunk of the copy cannot be read: " + err.Error()
	}
	table, err := catalog.NewTable(coll, chunks)
	if err != nil {
		return "the chunks of the copy do not form a table: " + err.Error()
	}
	named, v := bson.Timestamp{}, table.Version()
	named.T, named.I, _ = doc.Lookup("lastRefreshedCollectionVersion").TimestampOK()
	if named.T != v.Major || named.I != v.Minor {
		return fmt.Sprintf("the copy is recorded as version %d|%d, but its chunks are of version %v",
			named.T, named.I, v)
	}
	return ""
}

// CopyShows reports whether the copy of a collection's routing table, as it was among a member's
// documents at an index, is of that version of a shard or of a later one: a secondary lets no
// request with the version in before (protocol 2.2).
func CopyShows(s *store.Store, ns string, at uint64, v catalog.Version) bool {
	doc := s.Get(shard.CacheNS, string(key.String(ns)), at)
	if doc == nil {
		return false
	}
	raw, _ := doc.Lookup("collection").DocumentOK()
	coll, err := catalog.DecodeCollection(raw)
	major, _, _ := doc.Lookup("lastRefreshedCollectionVersion").TimestampOK()
	return err == nil && coll.Epoch == v.Epoch && major >= v.Major
}
