package policy

import (
	"cmp"
	"iter"
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// tableSurvey is the result of one pass over a table: how many chunks of which zone each shard has,
// and the first that may move. It is as big as there are pairs of a shard and a zone with chunks,
// never bigger than the table.
type tableSurvey struct {
	zones []string    // in order, then "" for what is outside all
	cells []shardZone // zone by zone
	begin []int32     // begin[z] is the first cell of zone z, begin[len(zones)] is len(cells)
	// latest is for each shard of the round its last shardZone; noShard means none.
	latest []int32
	// shards translates the table's numbers of shards to those of the round; noShard is a shard
	// that the round does not know.
	shards []int32
}

const noShard = -1

// shardZone is a shard and a zone by their indices, and what of the zone is on the shard.
type shardZone struct {
	shard, zone int32
	before      int32 // the shard's entry before this one, or noShard
	chunks      int64
	jumbo       int64 // how many of the chunks are marked
	// first begins the shard's chunk of the zone with the lowest keys that is neither jumbo nor to
	// be split for zones; "" is none.
	first key.Key
}

// take forgets the collection before. A chunk that crosses the boundary of a zone counts outside of
// all zones, but must be split before it moves.
func (s *tableSurvey) take(c *Collection, index map[string]int) {
	s.reset(c, index)
	pieces := slices.Collect(c.Zones.Pieces())
	slices.SortStableFunc(pieces, func(a, b catalog.Zone) int {
		return cmp.Compare(s.zone(a.Name), s.zone(b.Name))
	})
	for zone := range s.zones {
		s.begin = append(s.begin, int32(len(s.cells)))
		for len(pieces) > 0 && s.zone(pieces[0].Name) == zone {
			s.count(c.Table, pieces[0].Range)
			pieces = pieces[1:]
		}
	}
	for chunk := range c.Zones.Crossing(c.Table) {
		if i, known := index[chunk.Shard]; known {
			s.cells[s.cell(int32(i))].chunks++
		}
	}
	s.begin = append(s.begin, int32(len(s.cells)))
}

func (s *tableSurvey) reset(c *Collection, index map[string]int) {
	s.zones = s.zones[:0]
	for _, z := range c.Zones {
		s.zones = append(s.zones, z.Name)
	}
	slices.Sort(s.zones)
	s.zones = append(slices.Compact(s.zones), "")
	s.cells = slices.Grow(s.cells[:0], min(c.Table.Len(), len(s.zones)*len(index)))
	s.begin, s.latest, s.shards = s.begin[:0], s.latest[:0], s.shards[:0]
	for range index {
		s.latest = append(s.latest, noShard)
	}
	for _, name := range c.Table.Owners() {
		i, known := index[name]
		if !known {
			i = noShard
		}
		s.shards = append(s.shards, int32(i))
	}
}

func (s *tableSurvey) zone(name string) int {
	if name == "" {
		return len(s.zones) - 1
	}
	i, _ := slices.BinarySearch(s.zones[:len(s.zones)-1], name)
	return i
}

// count adds the chunks that lie in a piece of the zone that was begun last.
func (s *tableSurvey) count(t *catalog.Table, piece key.Range) {
	if piece.Max < key.Max {
		// The last chunk that begins in it may cross the boundary.
		piece.Max = t.Owner(piece.Max).Min
	}
	for chunk := range t.Beginning(piece) {
		shard := s.shards[chunk.Owner()]
		if shard == noShard {
			continue
		}
		at := &s.cells[s.cell(shard)]
		at.chunks++
		if chunk.Jumbo() {
			at.jumbo++
		}
		if at.first == "" && !chunk.Jumbo() {
			at.first = chunk.Min()
		}
	}
}

// cell is where the shard's cell of the zone that was begun last is.
func (s *tableSurvey) cell(shard int32) int32 {
	zone := int32(len(s.begin) - 1)
	if last := s.latest[shard]; last >= s.begin[zone] {
		return last
	}
	s.cells = append(s.cells, shardZone{shard: shard, zone: zone, before: s.latest[shard]})
	s.latest[shard] = int32(len(s.cells) - 1)
	return s.latest[shard]
}

// of returns the cells of a zone.
func (s *tableSurvey) of(zone int) []shardZone { return s.cells[s.begin[zone]:s.begin[zone+1]] }

// on returns the cells of a shard.
func (s *tableSurvey) on(shard int) iter.Seq[*shardZone] {
	return func(yield func(*shardZone) bool) {
		for i := s.latest[shard]; i != noShard && yield(&s.cells[i]); i = s.cells[i].before {
		}
	}
}

// at is the shard's cell of the zone, nil when it has no chunk of it.
func (s *tableSurvey) at(shard, zone int) *shardZone {
	for at := range s.on(shard) {
		if int(at.zone) == zone {
			return at
		}
	}
	return nil
}

// movable returns the shard's cells that have a chunk that may move, in the order of their keys.
func (s *tableSurvey) movable(shard int) []*shardZone {
	var found []*shardZone
	for at := range s.on(shard) {
		if at.first != "" {
			found = append(found, at)
		}
	}
	slices.SortFunc(found, func(a, b *shardZone) int { return cmp.Compare(a.first, b.first) })
	return found
}
