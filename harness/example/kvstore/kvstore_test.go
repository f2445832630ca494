package kvstore

import (
	"math"
	"slices"
	"testing"
)

// TestTables gives ranges away: every key has one owner before and after.
func TestTables(t *testing.T) {
	first := Table{Ranges: []Owned{{math.MinInt64, 6, "a"}, {6, math.MaxInt64, "b"}}}
	for _, c := range []struct {
		given Owned
		want  []Owned
	}{
		{Owned{math.MinInt64, 6, "b"}, []Owned{{math.MinInt64, 6, "b"}, {6, math.MaxInt64, "b"}}},
		{
			Owned{2, 4, "b"},
			[]Owned{{math.MinInt64, 2, "a"}, {2, 4, "b"}, {4, 6, "a"}, {6, math.MaxInt64, "b"}},
		},
		{Owned{4, 8, "a"}, []Owned{{math.MinInt64, 4, "a"}, {4, 8, "a"}, {8, math.MaxInt64, "b"}}},
	} {
		next := Table{Ranges: first.with(c.given)}
		if !slices.Equal(next.Ranges, c.want) {
			t.Errorf("after %v: %v, want %v", c.given, next.Ranges, c.want)
		}
		if !next.owns(c.given.Shard, c.given.Min, c.given.Max) || next.Owner(math.MaxInt64) != "b" {
			t.Errorf("after %v: %v", c.given, next)
		}
	}
	if first.owns("a", 4, 8) || !first.owns("a", 4, 6) {
		t.Error("a owns the keys below 6")
	}
}
