package endstate

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// BalanceState is how a collection lies on the shards when the balancer, which is on and at liberty
// to move it, has found nothing to do.
type BalanceState struct {
	NS string
	// BySize tells the policy of 6.0.3 and later (protocol 14.2) from that of 4.2 (protocol 14.1).
	// ChunkBytes is the size of a chunk that is aimed at, or more.
	BySize     bool
	ChunkBytes int64
	// Chunks is the routing table in the order of keys, Bytes the size of the documents that each
	// shard owns, as shards estimate it, but counted from outside: orphans taken off as if they
	// were of the average size (protocol 10.6).
	Chunks []PlacedChunk
	Bytes  map[string]int64
}

// PlacedChunk is a chunk and where it lies.
type PlacedChunk struct {
	Min, Max, Shard string
	Jumbo           bool
}

// Lacking says what is left for the balancer to do in this cluster (protocol 13.2, 14.4), and is
// empty when nothing is. It judges loads of collections without zones only, where it is clear which
// shards are to be compared. span turns a range of encoded keys into text for people.
func (r *BalanceState) Lacking(c *model.Cluster, span func(lo, hi string) string) string {
	if !c.Knows() {
		return ""
	}
	for i := range r.Chunks {
		if what := r.Chunks[i].misplaced(c, r.NS, span); what != "" {
			return what
		}
	}
	if c.Zoned(r.NS) {
		return ""
	}
	return r.uneven(c)
}

// misplaced says why a chunk cannot stay as it is.
func (at *PlacedChunk) misplaced(
	c *model.Cluster, ns string, show func(lo, hi string) string,
) string {
	zone, span := c.Zone(ns, at.Min, at.Max), show(at.Min, at.Max)
	somebody := slices.ContainsFunc(c.Shards(), func(s string) bool {
		return !c.Draining(s) && c.InZone(s, zone)
	})
	switch {
	case c.Crosses(ns, at.Min, at.Max):
		return fmt.Sprintf("the chunk %s crosses the boundary of a zone", span)
	case at.Jumbo || !somebody:
	case c.Draining(at.Shard):
		return fmt.Sprintf("the chunk %s is on %s, which is draining", span, at.Shard)
	case !c.InZone(at.Shard, zone):
		return fmt.Sprintf("the chunk %s belongs to zone %s and is on %s, which does not",
			span, zone, at.Shard)
	}
	return ""
}

// imbalance is by how many chunks two shards have to differ in 6.0.3 and later (errata E2). What
// shards have told of their data is not quite what is counted now, so one chunk is allowed on top.
const imbalance = 3 + 1

// uneven compares the shard that has most, if anything of it can move, with the one that has least.
// Counted are bytes, in 4.2 chunks (errata E15).
func (r *BalanceState) uneven(c *model.Cluster) string {
	load, movable := map[string]int64{}, map[string]bool{}
	for _, at := range r.Chunks {
		load[at.Shard]++
		movable[at.Shard] = movable[at.Shard] || !at.Jumbo
	}
	unit, apart := "chunks", int64(1)
	if r.BySize {
		load, unit, apart = r.Bytes, "bytes", imbalance*r.ChunkBytes
	}
	members := slices.DeleteFunc(c.Shards(), c.Draining)
	if len(members) == 0 {
		return ""
	}
	most, least, all := members[0], members[0], int64(0)
	for _, s := range members {
		if all += load[s]; load[s] > load[most] {
			most = s
		}
		if load[s] < load[least] {
			least = s
		}
	}
	n := int64(len(members))
	ideal := all / n
	if !r.BySize {
		ideal = (2*all + n) / (2 * n)
	}
	if !movable[most] || load[most] <= ideal || load[least] >= ideal ||
		load[most]-load[least] < apart {
		return ""
	}
	return fmt.Sprintf("%s has %d %s and %s has %d, where each should have about %d",
		most, load[most], unit, least, load[least], ideal)
}

// Table is the chunks as a routing table.
func (r *BalanceState) Table() []trace.Chunk {
	table := make([]trace.Chunk, len(r.Chunks))
	for i, c := range r.Chunks {
		table[i] = trace.Chunk{Min: c.Min, Max: c.Max, Shard: c.Shard}
	}
	return table
}
