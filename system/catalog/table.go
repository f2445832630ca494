package catalog

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tidwall/btree"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// Table is the routing table of one collection: its chunks at one moment. It is immutable; With
// makes a newer one that shares what has not changed.
type Table struct {
	coll   Collection
	chunks btree.Map[string, Entry] // by Min
	// versions holds the Min of the chunk of each version. The highest is the collection's version.
	versions btree.Map[uint64, key.Key]
	// shards has an entry for every shard that ever had a chunk, so that a number stays with its
	// shard. It copies an entry when it copies the node that holds it, so what GetMut returns is
	// this table's own.
	shards btree.Map[string, *shardVersions]
	owning int // how many shards have chunks
}

// shardVersions is what a table knows of a shard: its number, and as above the versions of its
// chunks.
type shardVersions struct {
	shard    string // all its chunks share this string, however they came
	number   int32
	versions btree.Map[uint64, key.Key]
}

// Copy makes the tree of shards copy on write.
func (o *shardVersions) Copy() *shardVersions {
	return &shardVersions{o.shard, o.number, *o.versions.Copy()}
}

// treeDegree keeps the nodes of the trees small, as every update copies those on its way.
const treeDegree = 8

// NewTable returns the table of exactly these chunks, in any order;
// errcode.IncompatibleShardingMetadata when they are no partition of the key space, and
// errcode.StaleEpoch when one is of another incarnation.
func NewTable(coll Collection, chunks []Chunk) (*Table, error) {
	t := &Table{
		coll:     coll,
		chunks:   *btree.NewMap[string, Entry](treeDegree),
		versions: *btree.NewMap[uint64, key.Key](treeDegree),
		shards:   *btree.NewMap[string, *shardVersions](treeDegree),
	}
	if err := t.replace(chunks); err != nil {
		return nil, err
	}
	if t.chunks.Len() == 0 {
		return nil, inconsistentError("collection %s has no chunks", coll.NS)
	}
	return t, nil
}

// With returns the table after an incremental refresh: each chunk replaces what it overlaps, and
// must not be older than that. Errors are those of NewTable.
func (t *Table) With(chunks []Chunk) (*Table, error) {
	next := t.copy()
	if err := next.replace(chunks); err != nil {
		return nil, err
	}
	return next, nil
}

// WithCollection returns the table with other properties of the same incarnation.
func (t *Table) WithCollection(coll Collection) *Table {
	next := t.copy()
	next.coll = coll
	return next
}

func (t *Table) copy() *Table {
	return &Table{
		coll:     t.coll,
		chunks:   *t.chunks.Copy(),
		versions: *t.versions.Copy(),
		shards:   *t.shards.Copy(),
		owning:   t.owning,
	}
}

func inconsistentError(format string, args ...any) error {
	return errcode.New(errcode.IncompatibleShardingMetadata, format, args...)
}

// replace removes what the chunks overlap before it adds them, as a version may move from one chunk
// to its remainder. Any gap that this leaves borders on a new chunk, so looking at their neighbours
// is enough.
func (t *Table) replace(chunks []Chunk) error {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(a, b Chunk) int { return cmp.Compare(a.Min, b.Min) })
	for i, c := range chunks {
		if err := t.acceptable(c); err != nil {
			return err
		}
		if i > 0 && chunks[i-1].Overlaps(c.Range) {
			return inconsistentError("chunks %v and %v overlap", chunks[i-1], c)
		}
		if err := t.clear(c); err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if err := t.add(c); err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if err := t.neighbours(c); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) acceptable(c Chunk) error {
	switch {
	case !c.Version.SameIncarnation(t.coll.Version()):
		return errcode.New(errcode.StaleEpoch, "chunk %v is not of collection %s with epoch %s",
			c, t.coll.NS, t.coll.Epoch)
	case c.Empty() || c.Min < key.Min || c.Max > key.Max:
		return inconsistentError("chunk %v is no range of keys", c)
	case c.Shard == "" || c.Version.OwnsNothing():
		return inconsistentError("chunk %v has no owner or no version", c)
	}
	return nil
}

func (t *Table) clear(c Chunk) error {
	for _, old := range slices.Collect(t.Overlapping(c.Range)) {
		if c.Version.Older(old.Version) {
			return inconsistentError("chunk %v is older than %v, which it replaces", c, old)
		}
		t.chunks.Delete(string(old.Min))
		t.versions.Delete(old.Version.number())
		owner, _ := t.shards.GetMut(old.Shard)
		if owner.versions.Delete(old.Version.number()); owner.versions.Len() == 0 {
			t.owning--
		}
	}
	return nil
}

func (t *Table) add(c Chunk) error {
	if other, double := t.versions.Set(c.Version.number(), c.Min); double {
		return inconsistentError("chunks %v and the one at %v have the same version", c, other)
	}
	owner, known := t.shards.GetMut(c.Shard)
	if !known {
		owner = &shardVersions{
			c.Shard, int32(t.shards.Len()), *btree.NewMap[uint64, key.Key](treeDegree),
		}
		t.shards.Set(c.Shard, owner)
	}
	if owner.versions.Set(c.Version.number(), c.Min); owner.versions.Len() == 1 {
		t.owning++
	}
	c.Shard = owner.shard
	t.chunks.Set(string(c.Min), Entry{&c, owner.number})
	return nil
}

func (t *Table) neighbours(c Chunk) error {
	before, after := key.Min, key.Max
	t.chunks.Descend(string(c.Min), func(min string, b Entry) bool {
		if min < string(c.Min) {
			before = b.chunk.Max
		}
		return min == string(c.Min)
	})
	t.chunks.Ascend(string(key.After(c.Min)), func(_ string, a Entry) bool {
		after = a.chunk.Min
		return false
	})
	if before != c.Min || after != c.Max {
		return inconsistentError("chunk %v borders on %v and %v", c, before, after)
	}
	return nil
}

// Collection is what the table is about.
func (t *Table) Collection() Collection { return t.coll }

// Len is the number of chunks.
func (t *Table) Len() int { return t.chunks.Len() }

// Owner returns the chunk that contains k.
func (t *Table) Owner(k key.Key) Chunk {
	if e := t.at(k); e.chunk != nil {
		return *e.chunk
	}
	return Chunk{} // while a table is being made
}

// Below returns the chunk with the keys just below k, which is not the lowest key.
func (t *Table) Below(k key.Key) Chunk {
	var found Chunk
	t.chunks.Descend(string(k), func(min string, e Entry) bool {
		found = *e.chunk
		return min >= string(k)
	})
	return found
}

// OwnsKey reports whether the shard owns k.
func (t *Table) OwnsKey(shard string, k key.Key) bool { return t.Owner(k).Shard == shard }

// Chunks returns all chunks in the order of their keys.
func (t *Table) Chunks() iter.Seq[Chunk] { return t.Overlapping(key.Everything) }

// Overlapping returns the chunks that have a key in r, in the order of their keys.
func (t *Table) Overlapping(r key.Range) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		if r.Empty() {
			return
		}
		first := r.Min
		if c := t.Owner(first); c.Contains(first) {
			first = c.Min
		}
		last := r.Max == key.Max // no chunk is beyond: a long pass need not look at every key
		t.chunks.Ascend(string(first), func(_ string, e Entry) bool {
			return (last || e.chunk.Min < r.Max) && yield(*e.chunk)
		})
	}
}

// Version is the collection's version: the highest of all chunks.
func (t *Table) Version() Version { return t.highest(&t.versions) }

// ShardVersion is the highest version of the shard's chunks; 0|0 of this incarnation when it owns
// none.
func (t *Table) ShardVersion(shard string) Version {
	if owner, known := t.shards.Get(shard); known && owner.versions.Len() > 0 {
		return t.highest(&owner.versions)
	}
	return t.coll.Version()
}

func (t *Table) highest(versions *btree.Map[uint64, key.Key]) Version {
	n, _, _ := versions.Max()
	return t.coll.Version().with(uint32(n>>32), uint32(n))
}

// Shards returns the shards that own chunks, sorted.
func (t *Table) Shards() []string {
	owning := make([]string, 0, t.owning)
	t.shards.Scan(func(shard string, o *shardVersions) bool {
		if o.versions.Len() > 0 {
			owning = append(owning, shard)
		}
		return true
	})
	return owning
}

// Count is the number of chunks that the shard owns.
func (t *Table) Count(shard string) int {
	owner, owns := t.shards.Get(shard)
	if !owns {
		return 0
	}
	return owner.versions.Len()
}

// ChunksOf returns the shard's chunks in the order of their versions. It looks at no others.
func (t *Table) ChunksOf(shard string) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		if owner, owns := t.shards.Get(shard); owns {
			owner.versions.Scan(func(_ uint64, min key.Key) bool { return yield(t.Owner(min)) })
		}
	}
}

// Owned returns what the shard owns as ranges that do not touch.
func (t *Table) Owned(shard string) []key.Range {
	var owned []key.Range
	for c := range t.Chunks() {
		if last := len(owned) - 1; c.Shard != shard {
			continue
		} else if last >= 0 && owned[last].Max == c.Min {
			owned[last].Max = c.Max
		} else {
			owned = append(owned, c.Range)
		}
	}
	return owned
}

// OwnedAt returns what of the range the shard owned at a time, as ranges that do not touch;
// errcode.StaleChunkHistory when the owner of a part is no longer known.
func (t *Table) OwnedAt(shard string, rng key.Range, ts hlc.Timestamp) ([]key.Range, error) {
	var owned []key.Range
	for c := range t.Overlapping(rng) {
		owner, err := c.ShardAt(ts)
		if err != nil {
			return nil, err
		}
		if last := len(owned) - 1; owner != shard {
			continue
		} else if last >= 0 && owned[last].Max == c.Min {
			owned[last].Max = c.Max
		} else {
			owned = append(owned, c.Range)
		}
	}
	return owned, nil
}

// Since returns the chunks whose version is v or newer, in the order of their versions: what a
// table of version v lacks.
func (t *Table) Since(v Version) []Chunk {
	var newer []Chunk
	t.versions.Ascend(v.number(), func(_ uint64, min key.Key) bool {
		newer = append(newer, t.Owner(min))
		return true
	})
	return newer
}

// Validate returns an error when an invariant of the table does not hold; it looks at everything,
// for tests and audits.
func (t *Table) Validate() error {
	var chunks []Chunk
	t.chunks.Scan(func(_ string, e Entry) bool {
		chunks = append(chunks, *e.chunk)
		return true
	})
	rebuilt, err := NewTable(t.coll, chunks)
	if err != nil {
		return err
	}
	for _, shard := range t.Shards() {
		if want, got := rebuilt.ShardVersion(shard), t.ShardVersion(shard); want != got {
			return inconsistentError("shard %s has version %v but its chunks have %v",
				shard, got, want)
		}
		if want, got := rebuilt.Count(shard), t.Count(shard); want != got {
			return inconsistentError("shard %s has %d chunks but owns %d", shard, got, want)
		}
	}
	if !slices.Equal(rebuilt.Shards(), t.Shards()) || rebuilt.owning != t.owning ||
		rebuilt.Version() != t.Version() {
		return inconsistentError("the table's versions differ from its chunks'")
	}
	return nil
}
