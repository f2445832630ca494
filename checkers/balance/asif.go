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
const mostReadings = 2

// AsIf tells for what a wrong choice would be right: which single thing the balancer may have
// mistaken. A reading of what is said of keys tells more than one of shards, which may just keep
// them from taking part.
func (r *Round) AsIf(chosen []Choice, show func(string) string) (told []string) {
	for _, kind := range [][]reading{r.ofZones(show), r.ofShards(), r.ofCollections()} {
		for _, other := range kind {
			if len(told) < mostReadings && other.round.Judge(chosen, show) == "" {
				told = append(told, "what it has chosen would be right if "+other.what)
			}
		}
		if len(told) > 0 {
			break
		}
	}
	return told
}

func (r *Round) ofZones(show func(string) string) (all []reading) {
	for i := range r.Collections {
		all = append(all, r.zoneReadings(i, show)...)
	}
	return all
}

func (r *Round) ofShards() (all []reading) {
	for i := range r.Shards {
		all = append(all, r.shardReadings(i)...)
	}
	return all
}

func (r *Round) ofCollections() (all []reading) {
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
		what := fmt.Sprintf("[%s, %s) of %s were in no zone; it is in zone %s",
			show(z.Min), show(z.Max), r.Collections[i].NS, z.Name)
		all = append(all, reading{what + r.Collections[i].touches(z, show), other})
	}
	return all
}

// touches says which ranges of zones a range meets at a bound, which is in the upper one only.
func (c *Collection) touches(z Zone, show func(string) string) (text string) {
	for _, by := range c.Zones {
		if by.Max == z.Min {
			text += fmt.Sprintf(", and begins at %s, where that of zone %s ends", show(z.Min), by.Name)
		}
		if by.Min == z.Max {
			text += fmt.Sprintf(", and ends at %s, where that of zone %s begins", show(z.Max), by.Name)
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
		add("did not drain, which it does", func(s *Shard) { s.Draining = false })
	} else {
		add("drained, which it does not", func(s *Shard) { s.Draining = true })
	}
	if r.Shards[i].Busy {
		add("were in no migration; it is in one", func(s *Shard) { s.Busy = false })
	} else {
		add("were in a migration; it is in none", func(s *Shard) { s.Busy = true })
	}
	if len(r.Shards[i].Zones) > 0 {
		add("were of no zone", func(s *Shard) { s.Zones = nil })
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
		add("chunks of "+ns+" might move; they may not", func(c *Collection) { c.Off = false })
	} else {
		add("no chunk of "+ns+" might move; they may", func(c *Collection) { c.Off = true })
	}
	if slices.ContainsFunc(r.Collections[i].Chunks, func(at Chunk) bool { return at.Jumbo }) {
		add("no chunk of "+ns+" were jumbo", func(c *Collection) {
			c.Chunks = slices.Clone(c.Chunks)
			for n := range c.Chunks {
				c.Chunks[n].Jumbo = false
			}
		})
	}
	for _, shard := range slices.Sorted(maps.Keys(r.Collections[i].Bytes)) {
		add(fmt.Sprintf("%s had not answered how much of %s it has; it has answered", shard, ns),
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
