package router

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// eachTable runs a benchmark with tables of 1,000 to 1,000,000 chunks on 100 shards. Chunk i begins
// at 10i.
func eachTable(b *testing.B, run func(b *testing.B, t *Table)) {
	var shards []string
	for i := range 100 {
		shards = append(shards, fmt.Sprintf("shard-%02d", i))
	}
	coll := catalog.Collection{
		NS:              "test.docs",
		UUID:            "u",
		Epoch:           "e",
		Timestamp:       hlc.At(1),
		Key:             key.Pattern{Field: "k"},
		AllowMigrations: true,
	}
	for chunks := 1_000; chunks <= 1_000_000; chunks *= 10 {
		bounds := make([]key.Key, chunks-1)
		for i := range bounds {
			bounds[i] = key.Int(int64(i+1) * 10)
		}
		first, err := catalog.First(coll, bounds, shards)
		if err != nil {
			b.Fatal(err)
		}
		table, err := catalog.NewTable(coll, first)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("chunks=%d", chunks), func(b *testing.B) { run(b, table) })
	}
}

func filter(b *testing.B, k any) bson.Raw {
	b.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "k", Value: k}})
	if err != nil {
		b.Fatal(err)
	}
	return doc
}

// BenchmarkTargetWrite finds the shard of one document and the version to send: it grows with the
// logarithm of the chunks.
func BenchmarkTargetWrite(b *testing.B) {
	eachTable(b, func(b *testing.B, t *Table) {
		of := fixedBy(filter(b, int64(t.Len()*7)))
		for b.Loop() {
			k, err := of(t.Collection().Key)
			if err != nil {
				b.Fatal(err)
			}
			command.PlacementBy(t, t.Owner(k).Shard)
		}
	})
}

// BenchmarkTargetScan finds the shards of a scan of ten chunks, and of one of everything: it grows
// with the chunks asked for until all shards are found.
func BenchmarkTargetScan(b *testing.B) {
	eachTable(b, func(b *testing.B, t *Table) {
		ten := bson.D{
			{Key: "$gte", Value: int64(t.Len() * 5)},
			{Key: "$lt", Value: int64(t.Len()*5 + 100)},
		}
		for name, by := range map[string]bson.Raw{"ten": filter(b, ten), "all": nil} {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					rng, err := filterRange(t.Collection().Key, by)
					if err != nil {
						b.Fatal(err)
					}
					ownersOf(t, rng)
				}
			})
		}
	})
}

// BenchmarkUpdate takes in one migration: it grows with the logarithm of the chunks.
func BenchmarkUpdate(b *testing.B) {
	eachTable(b, func(b *testing.B, t *Table) {
		c := t.Owner(key.Int(int64(t.Len() * 5)))
		moved, err := catalog.Move(t, c.Range, c.Shard, "shard-zz", hlc.At(9),
			catalog.HistoryWindow{})
		if err != nil {
			b.Fatal(err)
		}
		update := &command.RoutingUpdate{Collection: t.Collection(), Chunks: moved}
		for b.Loop() {
			if _, err := applyUpdate(t, update); err != nil {
				b.Fatal(err)
			}
		}
	})
}
