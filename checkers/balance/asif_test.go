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
