package policy

import (
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// Defragmentation gives a collection fewer chunks. Its phase is what the table shows: what can be
// joined is joined; a small chunk with nothing to join on its shard goes to a neighbour's; when
// nobody asks any more for where it was, the two are joined as well; and a collection of which all
// that is done has been defragmented. Every step leaves fewer chunks, or fewer fragments.

// smallChunks is how many of them a chunk must have room for to be small.
const smallChunks = 4

// fragment is a longest range of neighbouring chunks on one shard and in one zone: what can be
// joined, now or later. A chunk that must stay as it is, jumbo or over the boundary of a zone, is
// one of its own.
type fragment struct {
	first  catalog.Chunk
	zone   catalog.Zone // what zones leave undivided, around it
	chunks int
	bytes  int64 // unknown when that of a chunk is missing
	stays  bool
}

// FragmentMerges are the shards that have chunks to join of a collection that is defragmented,
// whether or not others are joined without being asked for. Before is as for Merges.
func FragmentMerges(c *Collection, before hlc.Timestamp) []Merge {
	if c.frozen() {
		return nil
	}
	return collectionMerges(c, before)
}

// Defragmented reports that nothing is left to be joined, now or later, nor to be moved for that,
// once shards are free.
func Defragmented(c *Collection, shards []Shard) bool {
	if c.frozen() || slices.ContainsFunc(
		c.fragments(), func(f fragment) bool { return f.chunks > 1 || f.bytes == unknownWeight },
	) {
		return false
	}
	free := slices.Clone(shards)
	for i := range free {
		free[i].Busy = false
	}
	r := NewRound(free)
	r.Defragment(c)
	return len(r.Migrations()) == 0
}

// Defragment moves small chunks to where they can be joined with a neighbour.
func (r *Round) Defragment(c *Collection) {
	if c.frozen() || !c.Defragment {
		return
	}
	all := c.fragments()
	for i := range all {
		if r.Exhausted() {
			return
		}
		if to := r.mate(c, all, i); all[i].small(c) && to >= 0 {
			r.choose(c, all[i].first, to, Fragment, false)
		}
	}
}

// small reports whether the fragment is worth moving. One that can be joined with something where
// it is waits for that.
func (f *fragment) small(c *Collection) bool {
	return !f.stays && f.chunks == 1 && f.bytes != unknownWeight &&
		smallChunks*f.bytes < c.ChunkBytes
}

// mate is the shard of the neighbour that the fragment makes a chunk with that is not too big: of
// two the one with less data, and of equals the lower. It is -1 when there is none, or it takes
// part in a migration.
func (r *Round) mate(c *Collection, all []fragment, i int) int {
	best, bytes := -1, int64(0)
	from, known := r.index[all[i].first.Shard]
	if !known || r.used[from] {
		return best
	}
	for _, j := range []int{i - 1, i + 1} {
		if j < 0 || j >= len(all) || !all[i].joins(&all[j], c.ChunkBytes) {
			continue
		}
		to, known := r.index[all[j].first.Shard]
		if !known || r.used[to] || !r.shards[to].takes(all[i].zone.Name) ||
			best >= 0 && bytes <= all[j].bytes {
			continue
		}
		best, bytes = to, all[j].bytes
	}
	return best
}

func (f *fragment) joins(other *fragment, atMost int64) bool {
	return !other.stays && other.zone == f.zone && other.bytes != unknownWeight &&
		f.bytes+other.bytes <= atMost
}

// fragments are what the collection consists of, in the order of keys.
func (c *Collection) fragments() (all []fragment) {
	for zone := range c.Zones.Pieces() {
		for chunk := range c.Table.Overlapping(zone.Range) {
			next := c.fragment(chunk, zone)
			if n := len(all); n > 0 && all[n-1].extends(&next) {
				all[n-1].append(&next)
			} else {
				all = append(all, next)
			}
		}
	}
	return all
}

func (c *Collection) fragment(chunk catalog.Chunk, zone catalog.Zone) fragment {
	f := fragment{
		first:  chunk,
		zone:   zone,
		chunks: 1,
		bytes:  unknownWeight,
		stays:  chunk.Jumbo || !zone.ContainsRange(chunk.Range),
	}
	if bytes, known := c.Sizes[chunk.Min]; known {
		f.bytes = bytes
	}
	return f
}

// extends reports whether the next chunk belongs to the fragment.
func (f *fragment) extends(next *fragment) bool {
	return f.first.Shard == next.first.Shard && f.zone == next.zone && !f.stays && !next.stays
}

func (f *fragment) append(next *fragment) {
	f.chunks++
	if f.bytes != unknownWeight && next.bytes != unknownWeight {
		f.bytes += next.bytes
	} else {
		f.bytes = unknownWeight
	}
}

// Owned are the chunks of each shard, by its name, whose sizes defragmentation goes by.
func Owned(t *catalog.Table) map[string][]key.Range {
	owned := make(map[string][]key.Range)
	for chunk := range t.Chunks() {
		owned[chunk.Shard] = append(owned[chunk.Shard], chunk.Range)
	}
	return owned
}
