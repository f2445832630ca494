// Package balance says what a round of the balancer has to choose (protocol 14.1, 14.2): which
// chunks move from where to where, and which requests that makes, worked out from the published
// rules and from nothing that the store says about itself.
//
// Promise: it is a second, slow and short form of the rules, which shares no code with the store.
// A choice between equals is left open.
//
// Refusal: it does not know when a round looked at what. Callers hand in one state of the
// cluster, and must take no answer for a proof when there were several.
package balance

import (
	"fmt"
	"reflect"
	"slices"
)

// Round is what a round goes by.
type Round struct {
	// Shards are in the order of their names, Collections in any.
	Shards      []Shard
	Collections []Collection
	// BySize is the policy of 6.0.3 and later, AtRandom that a setting has chunks moved at random.
	BySize, AtRandom bool
	// On says that the balancer is to run, Window that it may not at all times.
	On, Window bool
	// Forced has chunks move that turn out to be too big; WaitForDelete and Throttle go along with
	// every request.
	Forced, WaitForDelete bool
	Throttle              string
}

// Shard is a shard of the cluster. Busy means that it takes part in a migration that the balancer
// has asked for before. From MaxBytes of all collections on it takes no more; 0 is no limit.
type Shard struct {
	Name           string
	Draining, Busy bool
	Zones          []string
	MaxBytes       int64
}

// Collection is a sharded collection.
type Collection struct {
	NS     string
	Chunks []Chunk // in the order of keys
	Zones  []Zone  // in the order of keys
	// Off means that nothing of it moves; Defragment that only defragmentation moves it.
	Off, Defragment bool
	ChunkBytes      int64
	// Bytes is what shards have said that they have of it, Sizes what they have said of chunks by
	// their lower bounds. Who has not answered is missing.
	Bytes, Sizes map[string]int64
}

// Chunk is a chunk and where it lies.
type Chunk struct {
	Min, Max, Shard string
	Jumbo           bool
}

// Zone is a range and the zone to which it belongs.
type Zone struct{ Min, Max, Name string }

// Choice is a migration of a chunk, or with Open of what the donor finds right from Min on.
type Choice struct {
	NS, Min, Max, From, To string
}

// String is the choice for people who know the keys.
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

// Cuts are the points at which chunks have to be cut for zones, by the lower bounds of these.
func (r *Round) Cuts(ns string) map[string][]string {
	points := map[string][]string{}
	c := r.collection(ns)
	if c == nil || c.Off || c.Defragment {
		return points
	}
	for _, at := range c.Chunks {
		var inside []string
		for _, z := range c.Zones {
			for _, bound := range []string{z.Min, z.Max} {
				if at.Min < bound && bound < at.Max && !slices.Contains(inside, bound) {
					inside = append(inside, bound)
				}
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

// takes says whether the shard may be given chunks of the zone.
func (r *Round) takes(s *Shard, zone string) bool {
	var bytes int64
	for i := range r.Collections {
		bytes += r.Collections[i].Bytes[s.Name]
	}
	full := s.MaxBytes > 0 && bytes >= s.MaxBytes
	return !s.Draining && !full && s.has(zone)
}

// Equal says whether the states are the same.
func (r *Round) Equal(other *Round) bool { return reflect.DeepEqual(r, other) }

// End is where the chunk ends that begins at lo; empty for none.
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

// ChunkBytes is the size of a chunk of the collection that is aimed at.
func (r *Round) ChunkBytes(ns string) int64 {
	if c := r.collection(ns); c != nil {
		return c.ChunkBytes
	}
	return 0
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
