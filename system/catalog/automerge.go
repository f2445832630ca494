package catalog

import (
	"iter"

	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// Mergeable returns the longest ranges of at least two chunks that may be merged without being
// asked for (protocol 13.4): neighbours on one shard and in one zone, all there since before a
// time, that of the history window, and none of them jumbo. What snapshots may still ask for is
// kept by that.
func Mergeable(t *Table, zones Zones, before hlc.Timestamp) iter.Seq[key.Range] {
	return func(yield func(key.Range) bool) {
		for piece := range zones.Pieces() {
			if !eachMergeable(t, piece.Range, before, yield) {
				return
			}
		}
	}
}

// eachMergeable keeps inside the piece, as a joint chunk over its boundary would have to be split
// again.
func eachMergeable(
	t *Table, piece key.Range, before hlc.Timestamp, yield func(key.Range) bool,
) bool {
	var run key.Range
	var shard string
	parts := 0
	end := func() bool { return parts < 2 || yield(run) }
	for c := range t.Overlapping(piece) {
		switch {
		case c.Jumbo || c.OnCurrentShardSince >= before || !piece.ContainsRange(c.Range):
			if !end() {
				return false
			}
			parts = 0
		case parts > 0 && c.Shard == shard:
			run.Max = c.Max
			parts++
		default:
			if !end() {
				return false
			}
			run, shard, parts = c.Range, c.Shard, 1
		}
	}
	return end()
}

// MergeableOn are the ranges of Mergeable that one shard has.
func MergeableOn(t *Table, zones Zones, shard string, before hlc.Timestamp) (ranges []key.Range) {
	for rng := range Mergeable(t, zones, before) {
		if t.OwnsKey(shard, rng.Min) {
			ranges = append(ranges, rng)
		}
	}
	return ranges
}
