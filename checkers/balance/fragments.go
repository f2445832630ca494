package balance

import (
	"fmt"
	"slices"
)

// fragment is a maximal range of neighbouring chunks on one shard between two bounds of zones
// (protocol 14.2).
type fragment struct {
	first  Chunk
	piece  Zone
	chunks int
	bytes  int64
	sized  bool // the sizes of all chunks are known
	stays  bool // jumbo, or across the boundary of a zone
}

// judgeFragments judges a collection that is being defragmented: from the lowest keys on, a small
// chunk without a neighbour on its own shard moves to the shard of a neighbour with which it makes
// a chunk that is not too big.
func (r *Round) judgeFragments(
	c *Collection, chosen []Choice, used taken, show func(string) string,
) string {
	all := c.fragments()
	for i := range all {
		if len(r.Shards)-len(used) < 2 {
			break
		}
		to, found := r.mate(c, all, i, used)
		if !found {
			continue
		}
		at := all[i].first
		due := Choice{c.NS, at.Min, at.Max, at.Shard, to}
		switch {
		case len(chosen) == 0:
			return "it has left undone " + due.show(show)
		case chosen[0] != due:
			return chosen[0].show(show) + " moves, and what had to come was " + due.show(show)
		}
		used[due.From], used[due.To] = true, true
		chosen = chosen[1:]
	}
	if len(chosen) > 0 {
		return chosen[0].show(show) + " moves, and what had to come was nothing"
	}
	return ""
}

// Unfinished says why the defragmentation of a collection is not over: what there is to be joined,
// or to be moved for that once shards are free, or a size that has to be known for that; "" when it
// is over.
func (r *Round) Unfinished(ns string, show func(string) string) string {
	c := r.collection(ns)
	if c == nil {
		return ""
	}
	all := c.fragments()
	for i, f := range all {
		to, found := r.mate(c, all, i, taken{})
		switch {
		case f.chunks > 1:
			return fmt.Sprintf("%s has %d chunks to merge from %s on",
				f.first.Shard, f.chunks, show(f.first.Min))
		case !f.sized:
			return fmt.Sprintf("%s has not reported the size of the chunk at %s",
				f.first.Shard, show(f.first.Min))
		case found:
			return Choice{ns, f.first.Min, f.first.Max, f.first.Shard, to}.show(show) +
				" has still to move"
		}
	}
	return ""
}

// mate is the shard to which the fragment moves.
func (r *Round) mate(c *Collection, all []fragment, i int, used taken) (to string, found bool) {
	f, best := all[i], int64(0)
	small := f.sized && !f.stays && f.chunks == 1 && 4*f.bytes < c.ChunkBytes
	if from := r.shard(f.first.Shard); !small || from == nil || used[from.Name] {
		return "", false
	}
	for _, j := range []int{i - 1, i + 1} {
		if j < 0 || j >= len(all) {
			continue
		}
		other := all[j]
		s := r.shard(other.first.Shard)
		if other.stays || !other.sized || other.piece != f.piece ||
			f.bytes+other.bytes > c.ChunkBytes || s == nil || used[s.Name] ||
			!r.takes(s, f.piece.Name) || found && best <= other.bytes {
			continue
		}
		to, best, found = s.Name, other.bytes, true
	}
	return to, found
}

// fragments are what the collection consists of, in the order of keys.
func (c *Collection) fragments() (all []fragment) {
	for _, piece := range c.pieces() {
		for _, at := range c.Chunks {
			if at.Max <= piece.Min || piece.Max <= at.Min {
				continue
			}
			size, sized := c.Sizes[at.Min]
			next := fragment{
				first: at, piece: piece, chunks: 1, bytes: size, sized: sized,
				stays: at.Jumbo || at.Min < piece.Min || piece.Max < at.Max,
			}
			if n := len(all); n > 0 && all[n-1].extends(next) {
				last := &all[n-1]
				last.chunks, last.bytes = last.chunks+1, last.bytes+size
				last.sized = last.sized && sized
			} else {
				all = append(all, next)
			}
		}
	}
	return all
}

func (f fragment) extends(next fragment) bool {
	return f.first.Shard == next.first.Shard && f.piece == next.piece && !f.stays && !next.stays
}

// pieces divides the key space at the bounds of zones.
func (c *Collection) pieces() (all []Zone) {
	if len(c.Chunks) == 0 {
		return nil
	}
	lo, hi := c.Chunks[0].Min, c.Chunks[len(c.Chunks)-1].Max
	bounds := []string{lo, hi}
	for _, z := range c.Zones {
		bounds = append(bounds, z.Min, z.Max)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	for i := range bounds[1:] {
		zone, _ := c.zoneOf(bounds[i], bounds[i+1])
		all = append(all, Zone{bounds[i], bounds[i+1], zone})
	}
	return all
}
