// Package grounds says what the catalog must have said for a request to be refused: each Ground is
// a predicate over one state of it, and Past knows all states that a majority of the config server
// has had. A server that refuses says of itself only why; here that is looked up.
//
// Promise: a ground that held at no moment since a request came is no reason to refuse it, and a
// ground that held at every moment forbids granting it, if the server answers by what a majority
// has by then: the states of Past follow each other without a gap.
//
// Refusal: what is not in the catalog, such as unsharded collections and what shards know, is no
// ground here. Before anything is known of the cluster, everything may be one.
package grounds

import (
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// Ground is what must have been so for a refusal.
type Ground struct {
	// Wants is a clause for people.
	Wants string
	holds func(*View) bool
}

// Never is the ground of a refusal that nothing in the catalog explains.
func Never(wants string) *Ground {
	return &Ground{Wants: wants, holds: func(*View) bool { return false }}
}

// Always is the ground to refuse a request that can never be granted.
func Always(wants string) *Ground {
	return &Ground{Wants: wants, holds: func(*View) bool { return true }}
}

// Overlaps is that a range which is not exactly this one of this zone shares keys with it.
func Overlaps(ns, lo, hi, zone string) *Ground {
	return &Ground{"another range of a zone overlaps", func(v *View) bool {
		return v.Cluster.Overlaps(ns, lo, hi, zone)
	}}
}

// NoShardOf is that no shard that stays is of a zone.
func NoShardOf(zone string) *Ground {
	return &Ground{"zone " + zone + " has no shard that is not draining", func(v *View) bool {
		return !v.Cluster.Stays(zone, "")
	}}
}

// NoShard is that there is no such shard.
func NoShard(name string) *Ground {
	return &Ground{"there is no shard " + name, func(v *View) bool { return !v.Cluster.Has(name) }}
}

// Closed is that one of the shards does not exist, or is draining.
func Closed(shards ...string) *Ground {
	return &Ground{"one of the shards does not exist, or is draining", func(v *View) bool {
		for _, name := range shards {
			if !v.Cluster.Has(name) || v.Cluster.Draining(name) {
				return true
			}
		}
		return false
	}}
}

// LastOf is that a shard is the last one of a zone that has ranges.
func LastOf(shard, zone string) *Ground {
	return &Ground{shard + " is the last shard of zone " + zone + ", which has ranges",
		func(v *View) bool { return lastOf(v, shard, zone) }}
}

func lastOf(v *View, shard, zone string) bool {
	return v.Cluster.HasRanges(zone) && !v.Cluster.Stays(zone, shard)
}

// LastOfAny is that a shard is the last one of one of its zones, which has ranges.
func LastOfAny(shard string) *Ground {
	return &Ground{shard + " is the last shard of a zone that has ranges", func(v *View) bool {
		for _, zone := range v.Cluster.ZonesOf(shard) {
			if lastOf(v, shard, zone) {
				return true
			}
		}
		return false
	}}
}

// LastShard is that no other shard stays.
func LastShard(name string) *Ground {
	return &Ground{"every shard but " + name + " drains", func(v *View) bool {
		return !v.Cluster.Stays("", name)
	}}
}

// OtherLimit is that a shard has another limit.
func OtherLimit(shard string, maxBytes int64) *Ground {
	return &Ground{shard + " is a shard with another limit", func(v *View) bool {
		return v.Cluster.Has(shard) && v.Cluster.MaxBytes(shard) != maxBytes
	}}
}

// NotSharded is that the catalog has no such collection.
func NotSharded(ns string) *Ground {
	return &Ground{ns + " is not sharded", func(v *View) bool { return v.Table(ns) == nil }}
}

// Named is that the catalog has such a collection.
func Named(ns string) *Ground {
	return &Ground{ns + " is sharded", func(v *View) bool { return v.Table(ns) != nil }}
}

// OtherEpoch is that a collection is not there, or is another incarnation.
func OtherEpoch(ns, epoch string) *Ground {
	const wants = "it is not sharded, or is another incarnation than the request names"
	return inTable(wants, ns, func(t model.Table) bool {
		for _, c := range t {
			if c.Epoch != epoch {
				return true
			}
		}
		return false
	})
}

// NotOn is that a key is not on a shard.
func NotOn(ns, at, shard string) *Ground {
	return inTable("the key is not on "+shard, ns,
		func(t model.Table) bool { return t.Owner(at) != shard })
}

// NoChunk is that there is no chunk with exactly these bounds.
func NoChunk(ns, lo, hi string) *Ground {
	return inTable("there is no such chunk", ns, func(t model.Table) bool {
		c := t.ChunkOf(lo)
		return c.Min != lo || c.Max != hi
	})
}

// NotWhole is that a range does not consist of whole chunks of one shard.
func NotWhole(ns, lo, hi string) *Ground {
	return inTable("the range does not consist of whole chunks of one shard", ns,
		func(t model.Table) bool {
			first := t.ChunkOf(lo)
			return first.Min != lo || !reaches(t, first, hi)
		})
}

// reaches says whether chunks of one shard follow a chunk up to exactly a key.
func reaches(t model.Table, from trace.Chunk, hi string) bool {
	c := from
	for c.Max < hi {
		next := t.ChunkOf(c.Max)
		if next.Min != c.Max || next.Shard != from.Shard {
			return false
		}
		c = next
	}
	return c.Max == hi
}

// inTable is a ground in the table of a collection, or that there is none.
func inTable(wants, ns string, holds func(model.Table) bool) *Ground {
	return &Ground{wants, func(v *View) bool {
		t := v.Table(ns)
		return t == nil || holds(t)
	}}
}
