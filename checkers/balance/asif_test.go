package balance_test

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/balance"
)

// TestAsIf: a chunk stays outside its zone, which is right only for somebody to whom the range of
// that zone is in none.
func TestAsIf(t *testing.T) {
	r := balance.Round{
		Shards: []balance.Shard{
			{Name: "v", Zones: []string{"east"}}, {Name: "x", Zones: []string{"west"}},
		},
		Collections: []balance.Collection{{
			NS: "db.c", Chunks: chunks("a:v b:x c:v d:v"),
			Zones: []balance.Zone{
				{Min: "a", Max: "c", Name: "west"}, {Min: "c", Max: "d", Name: "east"},
			},
		}},
	}
	show := func(k string) string { return k }
	want := "what it has chosen would be right if [a, c) of db.c were in no zone; it is in zone " +
		"west, and ends at c, where that of zone east begins"
	if got := r.AsIf(nil, show); !slices.Contains(got, want) {
		t.Errorf("%q does not say: %s", got, want)
	}
}

// TestAsIfShards: nothing is taken from shards that drain, which is right only without the rule
// that these are emptied; what is not said of a shard is not thought of then.
func TestAsIfShards(t *testing.T) {
	r := balance.Round{
		Shards: []balance.Shard{
			{Name: "v", Draining: true}, {Name: "w", Draining: true}, {Name: "x"},
		},
		Collections: []balance.Collection{{NS: "db.c", Chunks: chunks("a:v b:w c:w d:x")}},
	}
	got := r.AsIf(nil, func(k string) string { return k })
	want := []string{
		"what it has chosen would be right if nothing had to move because its shard drains",
		"what it has chosen would be right if no shard drained, as v and w do",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
