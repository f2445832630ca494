package catalog

import (
	"maps"
	"slices"

	"github.com/shardproof/shardproof/system/hlc"
)

// OwnersSince returns every shard that owned a part of the collection at some time from since on,
// as far as the table knows, by name. It is false when the history of a chunk does not reach back
// so far.
func (t *Table) OwnersSince(since hlc.Timestamp) ([]string, bool) {
	owners := make(map[string]bool)
	for c := range t.Chunks() {
		if !c.ownersSince(since, owners) {
			return nil, false
		}
	}
	return slices.Sorted(maps.Keys(owners)), true
}

func (c *Chunk) ownersSince(since hlc.Timestamp, owners map[string]bool) bool {
	for _, p := range c.History {
		owners[p.Shard] = true
		if p.ValidAfter <= since {
			return true
		}
	}
	return false
}
