package checkers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
)

// BalanceState is how a collection lies on the shards when the balancer, which is on and at liberty to move it, has found nothing to do.
type BalanceState struct {
	NS string
	// BySize tells the policy of 6.0.3 and later (protocol 14.2) from that of 4.2 (protocol 14.1). ChunkBytes is the size of a chunk
	// that is aimed at, or more.
	BySize     bool
	ChunkBytes int64
	// Chunks is the routing table in the order of keys, Bytes the size of the documents that each shard owns, as
	// shards estimate it, but counted from outside: orphans taken off as if they were of the average size (protocol 10.6).
	Chunks []PlacedChunk
	Bytes  map[string]int64
}

// PlacedChunk is a chunk and where it lies.
type PlacedChunk struct {
	Min, Max, Shard string
	Jumbo           bool
}

// Lacking says what is left for the balancer to do (protocol 13.2, 14.4), and is empty when nothing is. It judges loads of collections
// without zones only, where it is clear which shards are to be compared.
func (o *Oracle) Lacking(r *BalanceState) string {
	c := o.world.LatestCluster()
	if !c.Knows() {
		return ""
	}
	for i := range r.Chunks {
		if what := o.misplaced(c, r.NS, &r.Chunks[i]); what != "" {
			return what
		}
	}
	if c.Zoned(r.NS) {
		return ""
	}
	return r.uneven(c)
}

// misplaced says why a chunk cannot stay as it is.
func (o *Oracle) misplaced(c *model.Cluster, ns string, at *PlacedChunk) string {
	zone, span := c.Zone(ns, at.Min, at.Max), o.span(at.Min, at.Max)
	somebody := slices.ContainsFunc(c.Shards(), func(s string) bool { return !c.Draining(s) && c.InZone(s, zone) })
	switch {
	case c.Crosses(ns, at.Min, at.Max):
		return fmt.Sprintf("the chunk %s crosses the boundary of a zone", span)
	case at.Jumbo || !somebody:
	case c.Draining(at.Shard):
		return fmt.Sprintf("the chunk %s is on %s, which is draining", span, at.Shard)
	case !c.InZone(at.Shard, zone):
		return fmt.Sprintf("the chunk %s belongs to zone %s and is on %s, which does not", span, zone, at.Shard)
	}
	return ""
}

// imbalance is by how many chunks two shards have to differ in 6.0.3 and later (errata E2). What shards have told of their data is
// not quite what is counted now, so one chunk is allowed on top.
const imbalance = 3 + 1

// uneven compares the shard that has most, if anything of it can move, with the one that has least. Counted are bytes, in 4.2 chunks
// (errata E15).
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
	if !movable[most] || load[most] <= ideal || load[least] >= ideal || load[most]-load[least] < apart {
		return ""
	}
	return fmt.Sprintf("%s has %d %s and %s has %d, where each should have about %d", most, load[most], unit, least, load[least], ideal)
}

// Rested reports what is lacking although the balancer has nothing to do.
func (o *Oracle) Rested(r *BalanceState, lacking string) {
	because, steps := o.leftBehind(r)
	o.reportOf(Balancing, Violation{
		Signature: NotBalanced, NS: r.NS, Broke: "the balancer has stopped moving chunks, although " + lacking,
		Because: append([]string{"it is enabled, nothing is in progress, and round after round ended without a migration"}, because...),
	}, append(steps, cmp.Or(o.balancer.ended, o.step))...)
}

// leftBehind says what shards have of chunks that others own, which the balancer must not take for theirs, and what keeps it there. The
// steps are those at which the newest of these chunks was given away, and at which what keeps it began.
func (o *Oracle) leftBehind(r *BalanceState) (because []string, steps []uint64) {
	for _, shard := range o.world.LatestCluster().Shards() {
		set, left := o.world.Set(shard), 0
		for _, at := range r.Chunks {
			if at.Shard != shard {
				left += len(set.Documents(r.NS, at.Min, at.Max))
			}
		}
		if left == 0 {
			continue
		}
		because = append(because, fmt.Sprintf("%s still has %d documents that it does not own", shard, left))
		steps = append(steps, o.gaveAway(r.NS, shard))
		for _, c := range o.node(set.Leader).cursors {
			if c.ns == r.NS {
				because = append(because, fmt.Sprintf("cursor %s is still open and keeps them from being deleted", c.id))
				steps = append(steps, c.step)
			}
		}
	}
	return because, steps
}

// gaveAway is the step at which a shard decided its newest migration of a collection; 0 for none.
func (o *Oracle) gaveAway(ns, shard string) (step uint64) {
	for _, id := range slices.Sorted(maps.Keys(o.moves)) {
		if m := o.moves[id]; m.ns == ns && m.from == shard {
			step = max(step, m.decision)
		}
	}
	return step
}
