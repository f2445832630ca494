package balance

import (
	"fmt"
	"strings"
)

// Describe tells in a sentence for each collection what a policy goes by: what its shards have, and
// what they may have.
func (r *Round) Describe(show func(string) string) (sentences []string) {
	for i := range r.Collections {
		c := &r.Collections[i]
		var shards []string
		for j := range r.Shards {
			shards = append(shards, r.holds(c, &r.Shards[j], show))
		}
		about := fmt.Sprintf("%s, of which a chunk has up to %d bytes", c.NS, c.ChunkBytes)
		switch {
		case c.Off:
			about += " and none moves"
		case c.Defragment:
			about += " and which is defragmented"
		}
		sentences = append(sentences, about+": "+strings.Join(shards, ", "))
		var zones []string
		for _, z := range c.Zones {
			zones = append(zones, fmt.Sprintf("%s [%s, %s)", z.Name, show(z.Min), show(z.Max)))
		}
		if len(zones) > 0 {
			sentences = append(sentences, "zones of "+c.NS+": "+strings.Join(zones, ", ")+
				"; its chunks: "+c.placed(show))
		}
	}
	return sentences
}

// placed tells of a collection with zones where its chunks begin, on which shards they are, and of
// which zones: a chunk may touch the bound of one.
func (c *Collection) placed(show func(string) string) string {
	var all []string
	for i := range c.Chunks {
		at := &c.Chunks[i]
		text := fmt.Sprintf("%s on %s", show(at.Min), at.Shard)
		if zone, crosses := c.zoneOf(at.Min, at.Max); crosses {
			text += " (crosses a bound)"
		} else if zone != "" {
			text += " (" + zone + ")"
		}
		all = append(all, text)
	}
	const most = 12
	told := "from " + strings.Join(all[:min(len(all), most)], ", from ")
	if more := len(all) - most; more > 0 {
		told += fmt.Sprintf(" and %d more", more)
	}
	return told
}

// holds is what a shard has of a collection, and what may keep it from having more.
func (r *Round) holds(c *Collection, s *Shard, show func(string) string) string {
	chunks, jumbo := 0, []string(nil)
	for i := range c.Chunks {
		if c.Chunks[i].Shard == s.Name {
			chunks++
			if c.Chunks[i].Jumbo {
				jumbo = append(jumbo, show(c.Chunks[i].Min))
			}
		}
	}
	text := fmt.Sprintf("%s has %d of its chunks", s.Name, chunks)
	if n := len(jumbo); n > 0 {
		text += fmt.Sprintf(", %d jumbo (%s)", n, atPlaces(jumbo))
	}
	if bytes, said := c.Bytes[s.Name]; r.BySize && said {
		text += fmt.Sprintf(" with %d bytes", bytes)
	}
	var also []string
	if len(s.Zones) > 0 {
		also = append(also, "zones "+strings.Join(s.Zones, " and "))
	}
	if s.Draining {
		also = append(also, "draining")
	}
	if s.Busy {
		also = append(also, "in a migration")
	}
	if len(also) > 0 {
		text += " (" + strings.Join(also, ", ") + ")"
	}
	return text
}

// atPlaces names the first of some lower bounds.
func atPlaces(bounds []string) string {
	const most = 3
	text := "at " + strings.Join(bounds[:min(len(bounds), most)], ", ")
	if len(bounds) > most {
		text += " and more"
	}
	return text
}
