package model

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// Cluster is what operators have said of the balancer, of shards, zones and collections. It is
// never changed; nil is that of which nothing is known.
type Cluster struct {
	// Mode is the balancer's, full when nobody has set it (protocol 14.3); Window is like
	// 23:00-7:00, empty for all day. Closed: nothing that the balancer has asked for is committed.
	Mode   trace.BalancerMode
	Window string
	Closed bool
	shards map[string]shardState
	zones  map[string][]ZoneRange // of a namespace, one each
	off    map[string]uint64      // the step at which the balancing of a namespace was switched off
}

// ZoneRange is a range and the zone it is of.
type ZoneRange struct{ Min, Max, Name string }

type shardState struct {
	draining bool
	zones    []string
	maxBytes int64
}

// Administers says whether the event changes a Cluster.
func Administers(e *trace.Event) bool {
	return e.Kind == trace.BalancerState || e.Kind == trace.ClusterChanged
}

// With is the cluster after the event.
func (c *Cluster) With(e *trace.Event) *Cluster {
	next := Cluster{Mode: trace.BalancerFull}
	if c != nil {
		next = *c
	}
	if e.Kind == trace.BalancerState {
		next.Mode, next.Window, next.Closed = e.BalancerMode(), e.Window(), e.Closed()
		return &next
	}
	switch change := e.ClusterChange(); change {
	case trace.ShardAdded, trace.ShardZones:
		drains := next.shards[e.Peer].draining && change == trace.ShardZones
		next.shards = withEntry(next.shards, e.Peer,
			shardState{drains, splitNames(e.Zones()), e.MaxBytes()})
	case trace.ShardDraining:
		next.shards = withEntry(next.shards, e.Peer,
			shardState{true, splitNames(e.Zones()), e.MaxBytes()})
	case trace.ShardRemoved:
		next.shards = maps.Clone(next.shards)
		delete(next.shards, e.Peer)
	case trace.ZoneRange:
		next.zones = withEntry(next.zones, e.NS, afterZoneChange(next.zones[e.NS], e))
	case trace.BalancingOff:
		next.off = withEntry(next.off, e.NS, e.Step)
	case trace.BalancingOn:
		next.off = withEntry(next.off, e.NS, 0)
	}
	return &next
}

func withEntry[V any](m map[string]V, key string, value V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// splitNames are the names in a list with commas.
func splitNames(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// afterZoneChange are the ranges of a namespace after one was given to a zone, or taken away from
// it.
func afterZoneChange(ranges []ZoneRange, e *trace.Event) []ZoneRange {
	next := slices.DeleteFunc(slices.Clone(ranges), func(old ZoneRange) bool {
		return old.Min == e.Min
	})
	if zone := e.Zones(); zone != "" {
		next = append(next, ZoneRange{e.Min, e.Max, zone})
	}
	return next
}

// Knows says whether anything is known of the shards.
func (c *Cluster) Knows() bool { return c != nil && len(c.shards) > 0 }

// Has says whether the shard is one of the cluster.
func (c *Cluster) Has(name string) bool {
	_, has := c.shards[name]
	return has
}

// Shards are the shards of the cluster by name.
func (c *Cluster) Shards() []string { return slices.Sorted(maps.Keys(c.shards)) }

// MaxBytes is from how much data on the shard is given no more; 0 is no limit.
func (c *Cluster) MaxBytes(name string) int64 { return c.shards[name].maxBytes }

// ZonesOf are the zones of which the shard may have ranges.
func (c *Cluster) ZonesOf(name string) []string { return c.shards[name].zones }

// Zoned says whether a range of the collection is of a zone.
func (c *Cluster) Zoned(ns string) bool { return len(c.zones[ns]) > 0 }

// Crosses says whether a part of the range, and not all of it, is of a zone.
func (c *Cluster) Crosses(ns, lo, hi string) bool {
	return c.Zone(ns, lo, hi) == "" &&
		slices.ContainsFunc(c.zones[ns], func(z ZoneRange) bool { return z.Min < hi && lo < z.Max })
}

// Draining says whether the shard is being removed.
func (c *Cluster) Draining(name string) bool { return c != nil && c.shards[name].draining }

// Zone is the zone that has all of the range, empty for none.
func (c *Cluster) Zone(ns, lo, hi string) string {
	if c != nil {
		for _, z := range c.zones[ns] {
			if z.Min <= lo && hi <= z.Max {
				return z.Name
			}
		}
	}
	return ""
}

// Assigned says whether exactly this range is of a zone.
func (c *Cluster) Assigned(ns, lo, hi string) bool {
	return c != nil && slices.ContainsFunc(c.zones[ns], func(z ZoneRange) bool {
		return z.Min == lo && z.Max == hi
	})
}

// Overlaps says whether a range of a zone shares keys with a range, other than exactly that range
// of that zone.
func (c *Cluster) Overlaps(ns, lo, hi, zone string) bool {
	return slices.ContainsFunc(c.zones[ns], func(z ZoneRange) bool {
		return z.Min < hi && lo < z.Max && z != (ZoneRange{lo, hi, zone})
	})
}

// HasRanges says whether a range of a collection is of the zone.
func (c *Cluster) HasRanges(zone string) bool {
	//shardproof:allow map whether there is one does not depend on the order
	for _, ranges := range c.zones {
		if slices.ContainsFunc(ranges, func(z ZoneRange) bool { return z.Name == zone }) {
			return true
		}
	}
	return false
}

// Stays says whether a shard of the zone, or any for none, does not drain, other than but.
func (c *Cluster) Stays(zone, but string) bool {
	return slices.ContainsFunc(c.Shards(), func(name string) bool {
		return name != but && !c.Draining(name) && c.InZone(name, zone)
	})
}

// LostZone is a range that was of a zone under a former name of the collection and is not under
// the new one; an empty zone for none.
func (c *Cluster) LostZone(ns string, before *Cluster, former string) (lo, hi, zone string) {
	if before == nil {
		return "", "", ""
	}
	for _, was := range before.zones[former] {
		if c == nil || !slices.Contains(c.zones[ns], was) {
			return was.Min, was.Max, was.Name
		}
	}
	return "", "", ""
}

// ZonesBut are the ranges of zones, with their namespaces, that another state does not have.
func (c *Cluster) ZonesBut(other *Cluster) iter.Seq2[string, ZoneRange] {
	return func(yield func(string, ZoneRange) bool) {
		for _, ns := range slices.Sorted(maps.Keys(c.zones)) {
			for _, z := range c.zones[ns] {
				if !slices.Contains(other.zones[ns], z) && !yield(ns, z) {
					return
				}
			}
		}
	}
}

// Homeless is a zone that has ranges and no shard that stays in the cluster; empty when there is
// none.
func (c *Cluster) Homeless() string {
	for _, ns := range slices.Sorted(maps.Keys(c.zones)) {
		for _, z := range c.zones[ns] {
			if !c.Stays(z.Name, "") {
				return z.Name
			}
		}
	}
	return ""
}

// InZone says whether the shard may have ranges of the zone.
func (c *Cluster) InZone(name, zone string) bool {
	return zone == "" || slices.Contains(c.shards[name].zones, zone)
}

// Off is the step at which the balancing of the collection was switched off, 0 while it is on.
func (c *Cluster) Off(ns string) uint64 {
	if c == nil {
		return 0
	}
	return c.off[ns]
}

// Cluster is what a majority of the config server has; nil when nothing is known.
func (w *World) Cluster() *Cluster { return w.cluster }

// LatestCluster is what the config server's leader has.
func (w *World) LatestCluster() *Cluster {
	latest := w.cluster
	for i := range w.Set(Config).chain {
		if e := w.Set(Config).chain[i].cluster; e != nil {
			latest = latest.With(e)
		}
	}
	return latest
}
