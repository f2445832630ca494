package balance

import (
	"fmt"
	"maps"
	"slices"
)

// A reading is the cluster with one thing different, and what that is.
type reading struct {
	what  string
	round *Round
}

// mostReadings is how many readings are told.
const mostReadings = 3

// AsIf tells what a wrong choice would be right for: which single thing the balancer may have taken
// for something else.
func (r *Round) AsIf(chosen []Choice, show func(string) string) (told []string) {
	for _, other := range r.readings(show) {
		if len(told) < mostReadings && other.round.Judge(chosen, show) == "" {
			told = append(told, "what it has chosen is right as if "+other.what)
		}
	}
	return told
}

func (r *Round) readings(show func(string) string) (all []reading) {
	for i := range r.Collections {
		all = append(all, r.zoneReadings(i, show)...)
	}
	for i := range r.Shards {
		all = append(all, r.shardReadings(i)...)
	}
	for i := range r.Collections {
		all = append(all, r.collectionReadings(i)...)
	}
	other := *r
	other.BySize = !r.BySize
	by := "amounts of data and not numbers of chunks"
	if r.BySize {
		by = "numbers of chunks and not amounts of data"
	}
	return append(all, reading{"the policy went by " + by, &other})
}

// zoneReadings are those without one of the ranges of zones.
func (r *Round) zoneReadings(i int, show func(string) string) (all []reading) {
	for n, z := range r.Collections[i].Zones {
		other := r.ownCollections()
		other.Collections[i].Zones = slices.Delete(slices.Clone(other.Collections[i].Zones), n, n+1)
		what := fmt.Sprintf("[%s, %s) of %s was in no zone, and it is in zone %s",
			show(z.Min), show(z.Max), r.Collections[i].NS, z.Name)
		all = append(all, reading{what + r.Collections[i].touches(z, show), other})
	}
	return all
}

// touches says which ranges of zones a range meets at a bound, which is in the upper one only.
func (c *Collection) touches(z Zone, show func(string) string) (text string) {
	for _, by := range c.Zones {
		if by.Max == z.Min {
			text += fmt.Sprintf("; it begins at %s, where that of zone %s ends", show(z.Min), by.Name)
		}
		if by.Min == z.Max {
			text += fmt.Sprintf("; it ends at %s, where that of zone %s begins", show(z.Max), by.Name)
		}
	}
	return text
}

// shardReadings are those with something else said of a shard.
func (r *Round) shardReadings(i int) (all []reading) {
	name := r.Shards[i].Name
	add := func(what string, change func(s *Shard)) {
		other := *r
		other.Shards = slices.Clone(r.Shards)
		change(&other.Shards[i])
		all = append(all, reading{name + " " + what, &other})
	}
	if r.Shards[i].Draining {
		add("did not drain, and it drains", func(s *Shard) { s.Draining = false })
	} else {
		add("drained, and it does not", func(s *Shard) { s.Draining = true })
	}
	if r.Shards[i].Busy {
		add("was in no migration, and it is in one", func(s *Shard) { s.Busy = false })
	} else {
		add("was in a migration, and it is in none", func(s *Shard) { s.Busy = true })
	}
	if len(r.Shards[i].Zones) > 0 {
		add("was of no zone", func(s *Shard) { s.Zones = nil })
	}
	if r.Shards[i].MaxBytes > 0 {
		add("had no limit", func(s *Shard) { s.MaxBytes = 0 })
	}
	return all
}

// collectionReadings are those with something else said of a collection.
func (r *Round) collectionReadings(i int) (all []reading) {
	ns := r.Collections[i].NS
	add := func(what string, change func(c *Collection)) {
		other := r.ownCollections()
		change(&other.Collections[i])
		all = append(all, reading{what, other})
	}
	if r.Collections[i].Off {
		add("chunks of "+ns+" might move, and they may not", func(c *Collection) { c.Off = false })
	} else {
		add("no chunk of "+ns+" might move, and they may", func(c *Collection) { c.Off = true })
	}
	if slices.ContainsFunc(r.Collections[i].Chunks, func(at Chunk) bool { return at.Jumbo }) {
		add("no chunk of "+ns+" was jumbo", func(c *Collection) {
			c.Chunks = slices.Clone(c.Chunks)
			for n := range c.Chunks {
				c.Chunks[n].Jumbo = false
			}
		})
	}
	for _, shard := range slices.Sorted(maps.Keys(r.Collections[i].Bytes)) {
		add(fmt.Sprintf("%s had not answered how much of %s it has, and it has", shard, ns),
			func(c *Collection) {
				c.Bytes = maps.Clone(c.Bytes)
				delete(c.Bytes, shard)
			})
	}
	return all
}

// ownCollections is a copy in which what is said of collections may be changed.
func (r *Round) ownCollections() *Round {
	other := *r
	other.Collections = slices.Clone(r.Collections)
	return &other
}
