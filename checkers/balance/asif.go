package balance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
// them from taking part; and one without something that is said of shards more than one with
// something that nobody has said.
func (r *Round) AsIf(chosen []Choice, show func(string) string) (told []string) {
	without, with := r.ofShards()
	without = append(r.ofReasons(), without...)
	for _, kind := range [][]reading{r.ofZones(show), without, with, r.ofCollections()} {
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

// ofReasons are the readings without one of the reasons for which chunks move.
func (r *Round) ofReasons() (all []reading) {
	for why, what := range []string{
		drains:    "nothing had to move because its shard drains",
		wrongZone: "nothing had to move because it is out of its zone",
		tooMuch:   "nothing had to move because a shard has too much",
	} {
		other := *r
		other.leftOut[why] = true
		all = append(all, reading{what, &other})
	}
	return all
}

// ofShards are the readings without something that is said of shards, of several at once first, and
// those with something that is not.
func (r *Round) ofShards() (without, with []reading) {
	without = r.allShards()
	for i := range r.Shards {
		without = append(without, r.withoutFact(i)...)
		with = append(with, r.withFact(i)...)
	}
	return without, with
}

// allShards are the readings without something that is said of more than one shard.
func (r *Round) allShards() (all []reading) {
	for _, fact := range []struct {
		what  string
		said  func(s *Shard) bool
		clear func(s *Shard)
	}{
		{"no shard drained", func(s *Shard) bool { return s.Draining },
			func(s *Shard) { s.Draining = false }},
		{"no shard were in a migration", func(s *Shard) bool { return s.Busy },
			func(s *Shard) { s.Busy = false }},
		{"no shard were of a zone", func(s *Shard) bool { return len(s.Zones) > 0 },
			func(s *Shard) { s.Zones = nil }},
		{"no shard had a limit", func(s *Shard) bool { return s.MaxBytes > 0 },
			func(s *Shard) { s.MaxBytes = 0 }},
	} {
		other, of := *r, []string{}
		other.Shards = slices.Clone(r.Shards)
		for i := range other.Shards {
			if fact.said(&other.Shards[i]) {
				fact.clear(&other.Shards[i])
				of = append(of, other.Shards[i].Name)
			}
		}
		if len(of) > 1 {
			what := fact.what + "; it is so of " + strings.Join(of, " and ")
			all = append(all, reading{what, &other})
		}
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

// withoutFact are the readings without something that is said of a shard.
func (r *Round) withoutFact(i int) (all []reading) {
	if r.Shards[i].Draining {
		all = append(all, r.change(i, "did not drain, which it does",
			func(s *Shard) { s.Draining = false }))
	}
	if r.Shards[i].Busy {
		all = append(all, r.change(i, "were in no migration; it is in one",
			func(s *Shard) { s.Busy = false }))
	}
	if len(r.Shards[i].Zones) > 0 {
		all = append(all, r.change(i, "were of no zone", func(s *Shard) { s.Zones = nil }))
	}
	if r.Shards[i].MaxBytes > 0 {
		all = append(all, r.change(i, "had no limit", func(s *Shard) { s.MaxBytes = 0 }))
	}
	return all
}

// withFact are the readings with something that is not said of a shard.
func (r *Round) withFact(i int) (all []reading) {
	if !r.Shards[i].Draining {
		all = append(all, r.change(i, "drained, which it does not",
			func(s *Shard) { s.Draining = true }))
	}
	if !r.Shards[i].Busy {
		all = append(all, r.change(i, "were in a migration; it is in none",
			func(s *Shard) { s.Busy = true }))
	}
	return all
}

// change is a reading with something else said of a shard.
func (r *Round) change(i int, what string, change func(s *Shard)) reading {
	other := *r
	other.Shards = slices.Clone(r.Shards)
	change(&other.Shards[i])
	return reading{r.Shards[i].Name + " " + what, &other}
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
