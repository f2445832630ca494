package catalog

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// Zone is a range of a collection's keys that only shards of the zone may own (a document of
// config.tags).
type Zone struct {
	key.Range
	Name string
}

// Zones are the zones of one collection: ranges that do not overlap, in the order of their keys. It
// is immutable; nil is a collection without zones. Two ranges may belong to the same zone.
type Zones []Zone

// Assign gives the range to a zone (updateZoneKeyRange). A range that is exactly this zone's
// already changes nothing; errcode.RangeOverlapConflict when it overlaps any other.
func (z Zones) Assign(rng key.Range, name string) (Zones, error) {
	if name == "" || rng.Empty() || !key.Everything.ContainsRange(rng) {
		return nil, errcode.New(errcode.BadValue,
			"the range %v cannot be of the zone %q", rng, name)
	}
	i := z.from(rng.Min)
	if i < len(z) && z[i] == (Zone{rng, name}) {
		return z, nil
	}
	if i < len(z) && z[i].Overlaps(rng) {
		return nil, errcode.New(errcode.RangeOverlapConflict, "the range %v overlaps %v of zone %s",
			rng, z[i].Range, z[i].Name)
	}
	return slices.Insert(slices.Clone(z), i, Zone{rng, name}), nil
}

// Unassign takes the range out of its zone; a range that is not exactly that of a zone changes
// nothing.
func (z Zones) Unassign(rng key.Range) Zones {
	i := z.from(rng.Min)
	if i == len(z) || z[i].Range != rng {
		return z
	}
	return slices.Delete(slices.Clone(z), i, i+1)
}

// from is the index of the first range that ends above k.
func (z Zones) from(k key.Key) int {
	return sort.Search(len(z), func(i int) bool { return z[i].Max > k })
}

// Of returns the zone that a chunk's range is in. It is "" for a range outside all zones, and for
// one that crosses the boundary of a zone: until it is split it is treated as if it was in none.
func (z Zones) Of(rng key.Range) string {
	if i := z.from(rng.Min); i < len(z) && z[i].ContainsRange(rng) {
		return z[i].Name
	}
	return ""
}

// Crosses reports whether the boundary of a zone is strictly inside the range.
func (z Zones) Crosses(rng key.Range) bool {
	i := z.from(rng.Min)
	return i < len(z) && z[i].Overlaps(rng) && !z[i].ContainsRange(rng)
}

// Boundaries returns the bounds of zones strictly inside the range, where a chunk has to be split.
func (z Zones) Boundaries(rng key.Range) []key.Key {
	var inside []key.Key
	for _, zone := range z[z.from(rng.Min):] {
		if zone.Min >= rng.Max {
			break
		}
		for _, bound := range []key.Key{zone.Min, zone.Max} {
			meets := len(inside) > 0 && inside[len(inside)-1] == bound
			if rng.Min < bound && bound < rng.Max && !meets {
				inside = append(inside, bound)
			}
		}
	}
	return inside
}

// Crossing returns the table's chunks that cross a boundary, with the points to split them at. It
// looks at the zones, not at all chunks.
func (z Zones) Crossing(t *Table) iter.Seq2[Chunk, []key.Key] {
	return func(yield func(Chunk, []key.Key) bool) {
		var last key.Key
		for _, bound := range z.Boundaries(key.Everything) {
			c := t.Owner(bound)
			if bound == c.Min || c.Max == last {
				continue
			}
			last = c.Max
			if !yield(c, z.Boundaries(c.Range)) {
				return
			}
		}
	}
}

// Pieces cuts all keys at the boundaries of zones, into ranges that are each in one zone or in none
// ("").
func (z Zones) Pieces() iter.Seq[Zone] {
	return func(yield func(Zone) bool) {
		for _, rng := range cutRange(key.Everything, z.Boundaries(key.Everything)) {
			if !yield(Zone{rng, z.Of(rng)}) {
				return
			}
		}
	}
}

// Validate returns an error when the ranges are empty, unsorted or overlap.
func (z Zones) Validate() error {
	if !slices.IsSortedFunc(z, func(a, b Zone) int { return cmp.Compare(a.Min, b.Min) }) {
		return inconsistentError("zones are out of order")
	}
	for i, zone := range z {
		if zone.Empty() || zone.Name == "" {
			return inconsistentError("zone %q has the range %v", zone.Name, zone.Range)
		}
		if i > 0 && z[i-1].Overlaps(zone.Range) {
			return inconsistentError("zones %s and %s overlap in %v",
				z[i-1].Name, zone.Name, z[i-1].Intersect(zone.Range))
		}
	}
	return nil
}
