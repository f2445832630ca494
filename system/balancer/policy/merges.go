package policy

import (
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
)

// Merge is a shard that is to join chunks of a collection.
type Merge struct{ NS, Shard string }

// Merges are the shards that have chunks of the collection to join without being asked for
// (protocol 13.4), in the order of their names. Before is the time before which nobody asks for the
// owners of the past.
func Merges(c *Collection, before hlc.Timestamp) []Merge {
	if c.fixed() || c.Table.Collection().NoAutoMerge {
		return nil
	}
	return collectionMerges(c, before)
}

func collectionMerges(c *Collection, before hlc.Timestamp) (all []Merge) {
	var shards []string
	for rng := range catalog.Mergeable(c.Table, c.Zones, before) {
		shards = append(shards, c.Table.Owner(rng.Min).Shard)
	}
	slices.Sort(shards)
	for _, shard := range slices.Compact(shards) {
		all = append(all, Merge{c.Table.Collection().NS, shard})
	}
	return all
}
