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

// AsIf tells for what a wrong choice would be right: what the balancer may have mistaken. A reading
// of what is said of keys tells more than one of shards, which may just keep them from taking part;
// and one without something that is said of shards more than one with something that nobody has
// said.
func (r *Round) AsIf(chosen []Choice, show func(string) string) (told []string) {
	all, ofOne := r.withoutFacts()
	without := slices.Concat(r.ofReasons(), all, ofOne)
	for _, kind := range [][]reading{
		r.ofZones(show), without, r.withFacts(), r.ofCollections(),
	} {
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

// saidOfShards is what may be said of shards: how that is denied of one and of all, with those of
// which it is said in place of %s.
var saidOfShards = []struct {
	ofOne, ofAll string
	said         func(s *Shard) bool
	clear        func(s *Shard)
}{
	{"%s did not drain, which it does", "no shard drained, as %s do",
		func(s *Shard) bool { return s.Draining }, func(s *Shard) { s.Draining = false }},
	{"%s were in no migration; it is in one", "no shard were in a migration, as %s are",
		func(s *Shard) bool { return s.Busy }, func(s *Shard) { s.Busy = false }},
	{"%s were of no zone", "no shard were of a zone, as %s are",
		func(s *Shard) bool { return len(s.Zones) > 0 }, func(s *Shard) { s.Zones = nil }},
	{"%s had no limit", "no shard had a limit, as %s have",
		func(s *Shard) bool { return s.MaxBytes > 0 }, func(s *Shard) { s.MaxBytes = 0 }},
}

// withoutFacts are the readings without something that is said of shards: of all at once where it
// is said of several, and of each.
func (r *Round) withoutFacts() (all, ofOne []reading) {
	for _, fact := range saidOfShards {
		var of []string
		none := r.ownShards()
		for i := range none.Shards {
			s := &none.Shards[i]
			if !fact.said(s) {
				continue
			}
			of = append(of, s.Name)
			fact.clear(s)
			one := r.ownShards()
			fact.clear(&one.Shards[i])
			ofOne = append(ofOne, reading{fmt.Sprintf(fact.ofOne, s.Name), one})
		}
		if len(of) > 1 {
			what := fmt.Sprintf(fact.ofAll, strings.Join(of, " and "))
			all = append(all, reading{what, none})
		}
	}
	return all, ofOne
}

// withFacts are the readings with something that is not said of a shard.
func (r *Round) withFacts() (all []reading) {
	for i := range r.Shards {
		name := r.Shards[i].Name
		if !r.Shards[i].Draining {
			other := r.ownShards()
			other.Shards[i].Draining = true
			all = append(all, reading{name + " drained, which it does not", other})
		}
		if !r.Shards[i].Busy {
			other := r.ownShards()
			other.Shards[i].Busy = true
			all = append(all, reading{name + " were in a migration; it is in none", other})
		}
	}
	return all
}

// ownShards is a copy in which what is said of shards may be changed.
func (r *Round) ownShards() *Round {
	other := *r
	other.Shards = slices.Clone(r.Shards)
	return &other
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
