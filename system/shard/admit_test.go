package shard

import (
	"testing"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// A shard tells from versions alone who has to learn: itself, from anything newer than all it
// knows, be it by a minor only, which a split gives to chunks that have not moved for long; or the
// router.
func TestJudgement(t *testing.T) {
	at := func(major, minor uint32) catalog.Version {
		return catalog.Version{Major: major, Minor: minor, Epoch: "e", Timestamp: 1}
	}
	chunk := func(min, max key.Key, shard string, v catalog.Version) catalog.Chunk {
		return catalog.Chunk{Range: key.Range{Min: min, Max: max}, Shard: shard, Version: v}
	}
	coll := catalog.Collection{
		NS:        "test.docs",
		UUID:      "u",
		Epoch:     "e",
		Timestamp: 1,
		Key:       key.Pattern{Field: "k"},
	}
	table := must(catalog.NewTable(coll, []catalog.Chunk{
		chunk(key.Min, key.Int(5), "shard-a", at(2, 1)),
		chunk(key.Int(5), key.Max, "shard-b", at(3, 0)),
	}))
	for _, c := range []struct {
		shard string
		got   catalog.Version
		want  placementVerdict
	}{
		{"shard-a", at(2, 1), placementCurrent},
		{"shard-a", at(2, 0), placementCurrent},
		{"shard-a", at(2, 7), placementCurrent},
		{"shard-a", at(1, 9), placementRouterOlder},
		{"shard-a", at(3, 0), placementRouterOlder},
		{"shard-a", at(3, 12), placementShardOlder},
		{"shard-a", at(4, 0), placementShardOlder},
		{"shard-c", at(3, 0), placementRouterOlder},
		{"shard-c", at(3, 1), placementShardOlder},
		{"shard-a", catalog.Version{Major: 2, Epoch: "f", Timestamp: 2}, placementShardOlder},
		{"shard-a", catalog.Version{Major: 2, Epoch: "f", Timestamp: 1}, placementRouterOlder},
		{"shard-a", catalog.Version{Major: 2, Epoch: "d", Timestamp: 0}, placementRouterOlder},
	} {
		if got := (&Metadata{Table: table, shard: c.shard}).judge(c.got); got != c.want {
			t.Errorf("%s asked with %v: %d, want %d", c.shard, c.got, got, c.want)
		}
	}
}
