package catalog

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// The changes below return the chunks to write, or none when nothing is to be done; applying them
// is Table.With.

// Bump says which part of the version a split or a merge raises. MongoDB's versions differ in it
// (protocol 3.2).
type Bump bool

// The bumps.
const (
	Minor Bump = false
	Major Bump = true
)

func (b Bump) above(v Version) Version {
	if b == Major {
		return v.nextMajor()
	}
	return v.nextMinor()
}

// Move gives a range inside one chunk of shard from to shard to (protocol 3.2, 3.3). The moved
// piece gets the next major version; the remainders of its chunk and one other chunk of the donor,
// the control chunk, follow with minor versions, so that the donor's version rises too. What the
// window does not reach is forgotten. A range that is on to already needs no change.
func Move(
	t *Table, rng key.Range, from, to string, validAfter hlc.Timestamp, window HistoryWindow,
) ([]Chunk, error) {
	c, err := chunkContaining(t, rng)
	if err != nil || c.Shard == to {
		return nil, err
	}
	if c.Shard != from {
		return nil, inconsistentError("range %v is on %s, not on %s", rng, c.Shard, from)
	}
	if len(c.History) > 0 && c.History[0].ValidAfter >= validAfter {
		return nil, inconsistentError("chunk %v is there since %v, not before %v",
			c, c.History[0].ValidAfter, validAfter)
	}
	version := t.Version().nextMajor()
	moved := Chunk{
		Range:               rng,
		Shard:               to,
		Version:             version,
		History:             prependPlacement(Placement{validAfter, to}, c.History, window),
		OnCurrentShardSince: validAfter,
	}
	changed := []Chunk{moved}
	for _, piece := range []key.Range{{Min: c.Min, Max: rng.Min}, {Min: rng.Max, Max: c.Max}} {
		if !piece.Empty() {
			version = version.nextMinor()
			changed = append(changed, c.remainder(piece, version))
		}
	}
	if control, ok := t.another(from, c.Min); ok {
		control.Version = version.nextMinor()
		changed = append(changed, control)
	}
	return changed, nil
}

func chunkContaining(t *Table, rng key.Range) (Chunk, error) {
	c := t.Owner(rng.Min)
	if rng.Empty() || !c.ContainsRange(rng) {
		return Chunk{}, inconsistentError("range %v is not inside one chunk of %s", rng, t.coll.NS)
	}
	return c, nil
}

// remainder is a part of the chunk that stays where it is. The jumbo flag was about the old bounds.
func (c Chunk) remainder(piece key.Range, v Version) Chunk {
	c.Range, c.Version, c.Jumbo = piece, v, false
	return c
}

// HistoryWindow says which placements before the newest a chunk remembers (protocol 3.3): those
// that began within Reach before it.
type HistoryWindow struct {
	Reach time.Duration
	// DropsLast is how 4.2 does it: the placement that ends now is forgotten, too, if it began
	// before that. Later versions keep it, as a read within the window needs it.
	DropsLast bool
}

func prependPlacement(now Placement, before []Placement, window HistoryWindow) []Placement {
	oldest := hlc.At(now.ValidAfter.Millis() - window.Reach.Milliseconds())
	keep, least := len(before), 1
	if window.DropsLast {
		least = 0
	}
	for keep > least && before[keep-1].ValidAfter < oldest {
		keep--
	}
	return append([]Placement{now}, before[:keep]...)
}

// another returns the shard's chunk with the lowest version that does not begin at but.
func (t *Table) another(shard string, but key.Key) (Chunk, bool) {
	var other key.Key
	if owner, owns := t.shards.Get(shard); owns {
		owner.versions.Scan(func(_ uint64, min key.Key) bool {
			other = min
			return min == but
		})
	}
	if other == "" || other == but {
		return Chunk{}, false
	}
	return t.Owner(other), true
}

// Split cuts the chunk with exactly these bounds at the points, which strictly increase inside it.
// All pieces keep shard and history.
func Split(t *Table, rng key.Range, points []key.Key, bump Bump) ([]Chunk, error) {
	c, err := exactChunk(t, rng)
	if err != nil {
		return nil, err
	}
	if err := checkInnerPoints(rng, points); err != nil {
		return nil, err
	}
	version := bump.above(t.Version())
	var pieces []Chunk
	for _, piece := range cutRange(rng, points) {
		pieces = append(pieces, c.remainder(piece, version))
		version = version.nextMinor()
	}
	return pieces, nil
}

func exactChunk(t *Table, rng key.Range) (Chunk, error) {
	c := t.Owner(rng.Min)
	if c.Range != rng {
		return Chunk{}, inconsistentError("collection %s has no chunk %v", t.coll.NS, rng)
	}
	return c, nil
}

func checkInnerPoints(rng key.Range, points []key.Key) error {
	last := rng.Min
	for _, p := range points {
		if p <= last || p >= rng.Max {
			return errcode.New(errcode.BadValue, "the point %v does not follow %v inside %v",
				p, last, rng)
		}
		last = p
	}
	return nil
}

func cutRange(rng key.Range, points []key.Key) []key.Range {
	pieces := make([]key.Range, 0, len(points)+1)
	for _, p := range points {
		pieces = append(pieces, key.Range{Min: rng.Min, Max: p})
		rng.Min = p
	}
	return append(pieces, rng)
}

// Merge joins the chunks that make up the range and are all on one shard. The joint chunk is there
// since its latest part came (protocol 13.4). A range that is one chunk already needs no change.
func Merge(t *Table, rng key.Range, bump Bump) ([]Chunk, error) {
	parts := slices.Collect(t.Overlapping(rng))
	if len(parts) == 0 || parts[0].Min != rng.Min || parts[len(parts)-1].Max != rng.Max {
		return nil, inconsistentError("range %v does not consist of whole chunks of %s",
			rng, t.coll.NS)
	}
	if len(parts) == 1 {
		return nil, nil
	}
	joint := Chunk{Range: rng, Shard: parts[0].Shard, Version: bump.above(t.Version())}
	for _, c := range parts {
		if c.Shard != joint.Shard {
			return nil, inconsistentError("chunks %v and %v are on different shards", parts[0], c)
		}
		joint.OnCurrentShardSince = max(joint.OnCurrentShardSince, c.OnCurrentShardSince)
	}
	joint.History = []Placement{{joint.OnCurrentShardSince, joint.Shard}}
	return []Chunk{joint}, nil
}

// MergeAll joins the chunks of each of the ranges, which do not overlap, as Merge does for one: all
// in one change.
func MergeAll(t *Table, ranges []key.Range, bump Bump) (all []Chunk, err error) {
	version := bump.above(t.Version())
	for _, rng := range ranges {
		merged, err := Merge(t, rng, bump)
		if err != nil {
			return nil, err
		}
		for _, c := range merged {
			c.Version = version
			all, version = append(all, c), version.nextMinor()
		}
	}
	return all, nil
}

// EnsureNewer raises the version of the chunk with exactly these bounds above the collection's,
// unless it is newer than v already or there is no such chunk (ensureChunkVersionIsGreaterThan,
// protocol 3.2): a commit that was sent with v is refused from then on.
func EnsureNewer(t *Table, rng key.Range, v Version) ([]Chunk, error) {
	c, err := exactChunk(t, rng)
	if err != nil || v.Older(c.Version) || !v.SameIncarnation(c.Version) {
		return nil, nil
	}
	c.Version = t.Version().nextMajor()
	return []Chunk{c}, nil
}

// Touch raises the version of one chunk above all others, so that everybody who refreshes sees that
// something about the collection has changed.
func Touch(t *Table) []Chunk {
	c := t.Owner(key.Min)
	c.Version = t.Version().nextMajor()
	return []Chunk{c}
}

// MarkJumbo says that the chunk with exactly these bounds is too big to be moved and cannot be
// split (protocol 13.5). Its version stays: only the balancer asks, and it reads the catalog
// itself. Splits and moves take the flag off.
func MarkJumbo(t *Table, rng key.Range) ([]Chunk, error) {
	c, err := exactChunk(t, rng)
	if err != nil || c.Jumbo {
		return nil, err
	}
	c.Jumbo = true
	return []Chunk{c}, nil
}

// Rename returns the chunks of a collection that is renamed: owners and versions stay, but they are
// those of another incarnation, which has no history before its own time.
func Rename(t *Table, as Collection) []Chunk {
	var all []Chunk
	for c := range t.Chunks() {
		c.Version.Epoch, c.Version.Timestamp = as.Epoch, as.Timestamp
		c.History, c.OnCurrentShardSince = []Placement{{as.Timestamp, c.Shard}}, as.Timestamp
		all = append(all, c)
	}
	return all
}

// ClearJumbo takes the jumbo flag off a chunk; the version rises so that everybody sees it.
func ClearJumbo(t *Table, rng key.Range) ([]Chunk, error) {
	c, err := exactChunk(t, rng)
	if err != nil || !c.Jumbo {
		return nil, err
	}
	c.Jumbo, c.Version = false, t.Version().nextMajor()
	return []Chunk{c}, nil
}
