// Package balance computes what a round of the balancer has to choose (protocol 14.1, 14.2): which
// chunks move from where to where, and with which requests. It follows the published rules and uses
// nothing that the store reports about its own choices.
//
// Promise: it is a second implementation of the rules, slow and short, which shares no code with
// the store. Any choice between equals is accepted.
//
// Refusal: it does not know at which moment a round read what. Callers pass one state of the
// cluster; when there were several, a complaint about one of them proves nothing.
package balance

import (
	"fmt"
	"reflect"
	"slices"
)

// Round is the input of a round.
type Round struct {
	// Shards are in the order of their names, Collections in any.
	Shards      []Shard
	Collections []Collection
	// BySize is the policy of 6.0.3 and later, AtRandom a setting by which chunks move at random.
	BySize, AtRandom bool
	// On says that the balancer is enabled, Window that it has an active window.
	On, Window bool
	// Forced says that chunks move even if they turn out to be too big; WaitForDelete and Throttle
	// are part of every request.
	Forced, WaitForDelete bool
	Throttle              string
	// ChunkBytes is the target size of the chunks of collections that have none of their own.
	ChunkBytes int64

	// leftOut are the reasons for which nothing moves, in a reading of the round.
	leftOut [tooMuch + 1]bool
}

// Shard is a shard of the cluster. Busy means that it takes part in a migration that the balancer
// has requested earlier. A shard that holds MaxBytes in all collections receives no more; 0 is no
// limit. Silent means that it was asked how much it has, and has not answered.
type Shard struct {
	Name           string
	Draining, Busy bool
	Zones          []string
	MaxBytes       int64
	Silent         bool
}

// Collection is a sharded collection.
type Collection struct {
	NS     string
	Chunks []Chunk // in the order of keys
	Zones  []Zone  // in the order of keys
	// Off means that none of its chunks move, Defragment that only defragmentation moves them.
	Off, Defragment bool
	// Bounds are those of chunks that it must have because it has too few.
	Bounds []string
	// ChunkBytes is the target size of its chunks; OwnSize says that it is the collection's own.
	ChunkBytes int64
	OwnSize    bool
	// Bytes is the size of the collection on each shard, as the shard has reported it; Sizes are
	// the reported sizes of chunks, by their lower bounds. Shards that have not answered are
	// missing.
	Bytes, Sizes map[string]int64
}

// Chunk is a chunk and its owner.
type Chunk struct {
	Min, Max, Shard string
	Jumbo           bool
}

// Zone is a range and the zone to which it belongs.
type Zone struct{ Min, Max, Name string }

// Choice is a migration of a chunk.
type Choice struct {
	NS, Min, Max, From, To string
}

// String describes the choice without its keys.
func (c Choice) String() string {
	return fmt.Sprintf("the chunk of %s from %s to %s", c.NS, c.From, c.To)
}

// zoneOf is the zone that has all of the range, "" for none; crosses says that only a part of the
// range is in a zone.
func (c *Collection) zoneOf(lo, hi string) (zone string, crosses bool) {
	for _, z := range c.Zones {
		switch {
		case z.Min <= lo && hi <= z.Max:
			return z.Name, false
		case z.Min < hi && lo < z.Max:
			crosses = true
		}
	}
	return "", crosses
}

// Cuts are the points at which chunks have to be split, for zones or because there are too few, by
// the lower bounds of the chunks.
func (r *Round) Cuts(ns string) map[string][]string {
	points := map[string][]string{}
	c := r.collection(ns)
	if c == nil {
		return points
	}
	bounds := c.Bounds
	if !c.Off && !c.Defragment {
		for _, z := range c.Zones {
			bounds = append(slices.Clip(bounds), z.Min, z.Max)
		}
	}
	for _, at := range c.Chunks {
		var inside []string
		for _, bound := range bounds {
			if at.Min < bound && bound < at.Max && !slices.Contains(inside, bound) {
				inside = append(inside, bound)
			}
		}
		if len(inside) > 0 {
			slices.Sort(inside)
			points[at.Min] = inside
		}
	}
	return points
}

func (s *Shard) has(zone string) bool { return zone == "" || slices.Contains(s.Zones, zone) }

// takes reports whether the shard may receive chunks of the zone.
func (r *Round) takes(s *Shard, zone string) bool {
	var bytes int64
	for i := range r.Collections {
		bytes += r.Collections[i].Bytes[s.Name]
	}
	full := s.MaxBytes > 0 && bytes >= s.MaxBytes
	return !s.Draining && !full && s.has(zone)
}

// unweighed is the shard of which a round of 4.2 has to know how much it has and does not; "" when
// there is none.
func (r *Round) unweighed() string {
	for _, s := range r.Shards {
		if s.Silent && s.MaxBytes > 0 && !r.BySize {
			return s.Name
		}
	}
	return ""
}

// Equal reports whether the states are the same.
func (r *Round) Equal(other *Round) bool { return reflect.DeepEqual(r, other) }

// End is the upper bound of the chunk that begins at lo; empty when there is none.
func (r *Round) End(ns, lo string) string {
	if c := r.collection(ns); c != nil {
		for _, at := range c.Chunks {
			if at.Min == lo {
				return at.Max
			}
		}
	}
	return ""
}

// ChunkSizes are the target sizes that a request may name while the configuration goes through the
// states: the cluster's is read when a round begins, and whether the collection has one of its own
// when the request is made (protocol 14.2).
func ChunkSizes(ns string, states []*Round) (sizes []int64) {
	for _, state := range states {
		switch c := state.collection(ns); {
		case c == nil:
			sizes = append(sizes, 0)
		case c.OwnSize:
			sizes = append(sizes, c.ChunkBytes)
		default:
			for _, other := range states {
				sizes = append(sizes, other.ChunkBytes)
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// shard is the shard of that name, nil for none.
func (r *Round) shard(name string) *Shard {
	i := slices.IndexFunc(r.Shards, func(s Shard) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Shards[i]
}

func (r *Round) collection(ns string) *Collection {
	i := slices.IndexFunc(r.Collections, func(c Collection) bool { return c.NS == ns })
	if i < 0 {
		return nil
	}
	return &r.Collections[i]
}
