package model

import (
	"maps"
	"slices"
	"testing"
)

// A range takes along the statements on its keys, and those that may be of any key, as far as they
// are of the newest transaction of their session. What was done to the whole collection stays.
func TestHistoryOfARange(t *testing.T) {
	on := func(ns, key string, txn uint64) Doc { return Doc{Key: ns + "\x00" + key, Hash: txn} }
	h := History{
		"a\x000": on("t.c", "k", 3),
		"a\x001": on("t.c", "z", 3),
		"b\x000": on("t.c", "k", 1),
		"b\x001": on("t.d", "k", 2),
		"c\x000": on("t.old", "x", 1),
		"e\x000": on("t.c", lowestKey, 1),
		"d\x000": on("t.old", lowestKey, 1),
		// The notes that a history is incomplete have no key.
		"f\x00-1": on("t.c", "", 1),
		"g\x00-1": on("t.c", "", 1),
	}
	adopted := func(id string, _ uint64) bool {
		return id == "c\x000" || id == "d\x000" || id == "f\x00-1"
	}
	in := h.In("t.c", lowestKey, "m", func(string, uint64) bool { return false }, adopted)
	want := []string{"a\x000", "c\x000", "f\x00-1"}
	if got := slices.Sorted(maps.Keys(in)); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
