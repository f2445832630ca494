package balance

import (
	"maps"
	"math"
	"slices"
)

// options are the choices that may come next for a collection: any of these; or none at all, but
// only if idle is set.
type options struct {
	any []Choice
	// idle says that no choice is required.
	idle bool
	why  reason
	// zone is that of the choice that was made.
	zone string
}

// reason is why something moves, the most urgent first.
type reason int

const (
	drains reason = iota
	wrongZone
	tooMuch
)

// taken are the shards that are part of a migration.
type taken map[string]bool

// next is what may come next for a collection when these shards are taken: first draining shards,
// then chunks in the wrong zone, then uneven distribution. When balancing by size, all choices of a
// round for a collection have one reason: that of the choice before, if there is one (protocol
// 14.1).
func (r *Round) next(c *Collection, used taken, before *options) options {
	if c.Off || c.Defragment || len(r.Shards)-len(used) < 2 {
		return options{idle: true}
	}
	serves := func(why reason) bool { return before == nil || !r.BySize || before.why == why }
	for _, why := range []reason{drains, wrongZone} {
		if !serves(why) || r.leftOut[why] {
			continue
		}
		if any := r.rescues(c, used, why == drains); len(any) > 0 {
			return options{any: any, why: why}
		}
	}
	if !serves(tooMuch) || r.leftOut[tooMuch] {
		return options{idle: true}
	}
	o := options{idle: true, why: tooMuch}
	zones := c.zoneNames()
	if before != nil && before.why == tooMuch { // one after the other, and each once
		zones = zones[slices.Index(zones, before.zone):]
	}
	for _, zone := range zones {
		any, idle := r.levels(c, used, zone)
		if o.any = append(o.any, any...); !idle {
			o.idle = false
			break
		}
	}
	return o
}

// rescues are the moves of chunks that cannot stay: from draining shards, or else from shards
// outside their zone. Of each shard, the first chunk moves that another shard can receive; nothing
// comes from a shard that has not said how much it has (protocol 14.2).
func (r *Round) rescues(c *Collection, used taken, draining bool) (any []Choice) {
	for i := range r.Shards {
		from := &r.Shards[i]
		_, known := r.weight(c, from.Name)
		if used[from.Name] || !known || draining && !from.Draining {
			continue
		}
		for _, at := range c.Chunks {
			zone, crosses := c.zoneOf(at.Min, at.Max)
			if at.Shard != from.Name || at.Jumbo || crosses || !draining && from.has(zone) {
				continue
			}
			to := r.receivers(c, used, zone)
			for _, name := range to {
				any = append(any, Choice{c.NS, at.Min, at.Max, from.Name, name})
			}
			if len(to) > 0 {
				break
			}
		}
	}
	return any
}

// receivers are the shards with the least of the collection among those that may receive the zone.
func (r *Round) receivers(c *Collection, used taken, zone string) (best []string) {
	least := int64(math.MaxInt64)
	for i := range r.Shards {
		s := &r.Shards[i]
		w, known := r.weight(c, s.Name)
		switch {
		case used[s.Name] || !known || !r.takes(s, zone) || w > least:
		case w < least:
			best, least = []string{s.Name}, w
		default:
			best = append(best, s.Name)
		}
	}
	return best
}

// weight is how much a shard has of a collection: bytes as the shard has reported, or chunks.
func (r *Round) weight(c *Collection, shard string) (w int64, known bool) {
	if r.BySize {
		w, known = c.Bytes[shard]
		return w, known
	}
	for _, at := range c.Chunks {
		if at.Shard == shard {
			w++
		}
	}
	return w, true
}

// zoneNames are the names of the zones, and "" at the end for keys outside every zone.
func (c *Collection) zoneNames() []string {
	names := map[string]bool{}
	for _, z := range c.Zones {
		names[z.Name] = true
	}
	return append(slices.Sorted(maps.Keys(names)), "")
}

// levels are the moves from the shard with the most of the zone to the one with the least of the
// collection, if they differ enough. Of equals any may be chosen, and if nothing is due between two
// of them, the round may also choose nothing.
func (r *Round) levels(c *Collection, used taken, zone string) (any []Choice, idle bool) {
	load, ideal, known := r.loads(c, zone)
	if !known {
		return nil, true
	}
	donors, receivers := r.heaviest(c, used, zone, load), r.receivers(c, used, zone)
	idle = len(donors) == 0 || len(receivers) == 0
	for _, from := range donors {
		for _, to := range receivers {
			if at := c.firstOf(from, zone); at != nil && r.uneven(c, load[from], load[to], ideal) {
				any = append(any, Choice{c.NS, at.Min, at.Max, from, to})
			} else {
				idle = true
			}
		}
	}
	return any, idle
}

// heaviest are the shards of the zone that have the most of it.
func (r *Round) heaviest(
	c *Collection, used taken, zone string, load map[string]int64,
) (best []string) {
	most := int64(-1)
	for i := range r.Shards {
		s := &r.Shards[i]
		_, known := r.weight(c, s.Name)
		switch {
		case used[s.Name] || s.Draining || !s.has(zone) || !known || load[s.Name] < most:
		case load[s.Name] > most:
			best, most = []string{s.Name}, load[s.Name]
		default:
			best = append(best, s.Name)
		}
	}
	return best
}

// uneven is the condition under which something moves from one shard to another (errata E2, E15).
func (r *Round) uneven(c *Collection, from, to, ideal int64) bool {
	return from > ideal && to < ideal && (!r.BySize || from-to >= 3*c.ChunkBytes)
}

// loads are how much of a zone each shard has, and the ideal share; known is false when no shard
// may have any of it.
func (r *Round) loads(c *Collection, zone string) (load map[string]int64, ideal int64, known bool) {
	load = map[string]int64{}
	var all, members int64
	for i := range r.Shards {
		s := &r.Shards[i]
		w, answered := r.weight(c, s.Name)
		if r.BySize {
			if !answered || !s.has(zone) {
				continue
			}
		} else {
			w = c.count(s.Name, zone)
		}
		load[s.Name] = w
		all += w
		if s.has(zone) && !s.Draining {
			members++
		}
	}
	if members == 0 {
		return nil, 0, false
	}
	if r.BySize {
		return load, all / members, true
	}
	return load, (2*all + members) / (2 * members), true
}

// count is how many chunks of a zone a shard has; a chunk that has to be split first counts as
// outside every zone.
func (c *Collection) count(shard, zone string) (n int64) {
	for _, at := range c.Chunks {
		if of, _ := c.zoneOf(at.Min, at.Max); of == zone && at.Shard == shard {
			n++
		}
	}
	return n
}

// firstOf is the shard's first chunk of the zone that may move.
func (c *Collection) firstOf(shard, zone string) *Chunk {
	for i := range c.Chunks {
		at := &c.Chunks[i]
		of, crosses := c.zoneOf(at.Min, at.Max)
		if at.Shard == shard && of == zone && !crosses && !at.Jumbo {
			return at
		}
	}
	return nil
}
