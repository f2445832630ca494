package held

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// TestLacksCopy: a copy of two chunks, the newer of version 1|1.
func TestLacksCopy(t *testing.T) {
	coll := catalog.Collection{
		NS: "test.docs", UUID: "u", Epoch: "e", Timestamp: hlc.Timestamp(1),
		Key: key.Pattern{Field: "k"}, AllowMigrations: true,
	}
	encoded, err := catalog.EncodeCollection(coll)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		chunks, minor uint32
		refreshing    bool
		nothing       bool
		lacks         string
	}{
		"whole":          {2, 1, false, false, ""},
		"none":           {0, 0, false, true, "there is no copy"},
		"half way":       {2, 1, true, false, "still being replaced"},
		"a hole":         {1, 0, false, false, "do not form a table"},
		"a wrong number": {2, 7, false, false, "its chunks are of"},
	} {
		s, bounds := store.New(), []key.Key{key.Min, key.Int(5), key.Max}
		var ops []oplog.Op
		for i := range c.chunks {
			chunk := catalog.Chunk{
				Range: key.Range{Min: bounds[i], Max: bounds[i+1]}, Shard: "a",
				Version: catalog.Version{Major: 1, Minor: i, Epoch: "e", Timestamp: 1},
			}
			doc, err := catalog.EncodeChunk(coll, chunk)
			if err != nil {
				t.Fatal(err)
			}
			id := string(key.String(catalog.ChunkID(coll.UUID, chunk.Min)))
			ops = append(ops, oplog.Op{
				Kind: oplog.Insert, NS: shard.CacheChunks(coll.NS), ID: id, Doc: doc,
			})
		}
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: coll.NS}, {Key: "collection", Value: encoded},
			{Key: "refreshing", Value: c.refreshing},
			{Key: "lastRefreshedCollectionVersion", Value: bson.Timestamp{T: 1, I: c.minor}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !c.nothing {
			ops = append(ops, oplog.Op{
				Kind: oplog.Insert, NS: shard.CacheNS, ID: string(key.String(coll.NS)), Doc: doc,
			})
		}
		if err := s.Apply(1, ops); err != nil {
			t.Fatal(err)
		}
		lacks := LacksCopy(s, coll.NS, 1)
		if lacks == "" != (c.lacks == "") || !strings.Contains(lacks, c.lacks) {
			t.Errorf("%s: %q, want %q", name, lacks, c.lacks)
		}
	}
}
