package policy

import (
	"cmp"
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// survey is what one pass over a table tells: how many chunks of which zone each shard has, and the first that may move. It is
// as big as there are pairs of a shard and a zone with chunks, never bigger than the table.
type survey struct {
	zones []string // in order, then "" for what is outside all
	cells []cell
	at    map[place]int
	// latest is where the shard's chunk before this one was counted: chunks of a zone are next to each other.
	latest []int
}

// place is a shard and a zone by their indices.
type place struct{ shard, zone int32 }

type cell struct {
	place
	chunks int64
	// first begins the shard's chunk of the zone with the lowest keys that is neither jumbo nor to be split for zones; "" is none.
	first key.Key
}

// take forgets the collection before. The chunks at the ends of a piece are known by their versions: comparing keys costs more
// than all the rest, and a pass over a big table is what a round spends its time on.
func (s *survey) take(c *Collection, index map[string]int) {
	s.reset(c.Zones, len(index))
	outside := s.zone("")
	for piece := range c.Zones.Pieces() {
		zone := s.zone(piece.Name)
		before, beyond := crossing(c.Table, piece.Min), crossing(c.Table, piece.Max)
		for chunk := range c.Table.Overlapping(piece.Range) {
			shard, known := index[chunk.Shard]
			switch {
			case !known || before.is(&chunk): // a chunk is counted where it begins
			case beyond.is(&chunk):
				s.cells[s.cell(place{int32(shard), outside})].chunks++ // it counts, but must be split before it moves
			default:
				s.count(place{int32(shard), zone}, &chunk)
			}
		}
	}
}

// mark is the version of a chunk within its table; the zero mark is of none.
type mark struct{ major, minor uint32 }

func (m mark) is(c *catalog.Chunk) bool {
	return c.Version.Major == m.major && c.Version.Minor == m.minor
}

// crossing is the chunk that a bound is strictly inside.
func crossing(t *catalog.Table, bound key.Key) mark {
	if c := t.Owner(bound); bound < key.Max && c.Min < bound {
		return mark{c.Version.Major, c.Version.Minor}
	}
	return mark{}
}

func (s *survey) reset(zones catalog.Zones, shards int) {
	s.zones = s.zones[:0]
	for _, z := range zones {
		s.zones = append(s.zones, z.Name)
	}
	slices.Sort(s.zones)
	s.zones = append(slices.Compact(s.zones), "")
	s.cells = s.cells[:0]
	s.latest = slices.Grow(s.latest[:0], shards)[:shards]
	for i := range s.latest {
		s.latest[i] = -1
	}
	if s.at == nil {
		s.at = make(map[place]int, shards)
	}
	clear(s.at)
}

func (s *survey) zone(name string) int32 {
	if name == "" {
		return int32(len(s.zones) - 1)
	}
	i, _ := slices.BinarySearch(s.zones[:len(s.zones)-1], name)
	return int32(i)
}

func (s *survey) count(p place, chunk *catalog.Chunk) {
	i := s.latest[p.shard]
	if i < 0 || s.cells[i].zone != p.zone {
		i = s.cell(p)
		s.latest[p.shard] = i
	}
	at := &s.cells[i]
	at.chunks++
	if at.first == "" && !chunk.Jumbo {
		at.first = chunk.Min
	}
}

func (s *survey) cell(p place) int {
	i, known := s.at[p]
	if !known {
		i = len(s.cells)
		s.cells = append(s.cells, cell{place: p})
		s.at[p] = i
	}
	return i
}

// look returns the cell; the zero cell when the shard has no chunk of the zone.
func (s *survey) look(p place) cell {
	if i, known := s.at[p]; known {
		return s.cells[i]
	}
	return cell{place: p}
}

// movable returns the cells that have a chunk that may move and answer to the condition, in the order of shards and for each of
// keys.
func (s *survey) movable(of func(p place) bool) []cell {
	var found []cell
	for _, at := range s.cells {
		if at.first != "" && of(at.place) {
			found = append(found, at)
		}
	}
	slices.SortFunc(found, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.first, b.first))
	})
	return found
}
