package balance_test

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/balance"
)

func TestDescribe(t *testing.T) {
	r := balance.Round{
		BySize: true,
		Shards: []balance.Shard{{Name: "a", Draining: true}, {Name: "b", Zones: []string{"west"}}},
		Collections: []balance.Collection{{
			NS: "test.docs", ChunkBytes: 100, Bytes: map[string]int64{"a": 300},
			Zones:  []balance.Zone{{Min: "c", Max: "d", Name: "west"}},
			Chunks: []balance.Chunk{{Max: "g", Shard: "a", Jumbo: true}, {Min: "g", Max: "h", Shard: "a"}},
		}},
	}
	want := []string{"test.docs, of which a chunk has up to 100 bytes: " +
		"a has 2 of its chunks, 1 jumbo (at '') with 300 bytes (draining), b has 0 of its chunks " +
		"(zones west)", "zones of test.docs: west ['c', 'd'); its chunks: from '' on a (crosses a " +
		"bound), from 'g' on a"}
	show := func(k string) string { return "'" + k + "'" }
	if got := r.Describe(show); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
