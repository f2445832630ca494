package model

import (
	"slices"
	"sort"

	"github.com/shardproof/shardproof/histories/trace"
)

// Table is a routing table: chunks ordered by Min. It is never changed.
type Table []trace.Chunk

// Owner is the shard that owns the key; empty when no chunk has it.
func (t Table) Owner(key string) string { return t.ChunkOf(key).Shard }

// ChunkOf is the chunk that has the key; the zero Chunk when none has.
func (t Table) ChunkOf(key string) trace.Chunk {
	i := sort.Search(len(t), func(i int) bool { return t[i].Max > key })
	if i < len(t) && t[i].Min <= key {
		return t[i]
	}
	return trace.Chunk{}
}

// KnownAt says whether the history of every chunk reaches back to a time.
func (t Table) KnownAt(at uint64) bool {
	return !slices.ContainsFunc(t, func(c trace.Chunk) bool {
		return !slices.ContainsFunc(c.History,
			func(p trace.Placement) bool { return p.ValidAfter <= at })
	})
}

// With is the table after chunks were written: they replace what they overlap.
func (t Table) With(written []trace.Chunk) Table {
	next := make(Table, 0, len(t)+len(written))
	for _, old := range t {
		if !overlapsAny(old, written) {
			next = append(next, old)
		}
	}
	next = append(next, written...)
	sort.Slice(next, func(i, j int) bool { return next[i].Min < next[j].Min })
	return next
}

func overlapsAny(old trace.Chunk, written []trace.Chunk) bool {
	for _, c := range written {
		if old.Min < c.Max && c.Min < old.Max {
			return true
		}
	}
	return false
}

// Version is the highest version of a chunk, 0|0 for an empty table.
func (t Table) Version() (major, minor uint32) {
	for _, c := range t {
		if c.Major > major || c.Major == major && c.Minor > minor {
			major, minor = c.Major, c.Minor
		}
	}
	return major, minor
}

// Owned are the ranges of the shard, in order.
func (t Table) Owned(shard string) (ranges []trace.Chunk) {
	for _, c := range t {
		if c.Shard == shard {
			ranges = append(ranges, c)
		}
	}
	return ranges
}

// Write is one write of the catalog.
type Write struct {
	// NS is a sharded collection or a database.
	NS   string
	Why  string
	Step uint64
	// Chunks are those written; Before and After the table around it, as the config server's leader
	// has it.
	Chunks        []trace.Chunk
	Before, After Table
}

// Drops says whether the write removes the collection.
func (w *Write) Drops() bool { return w.Is(trace.Dropped) }

// Refuses says whether, after the write, the config server commits no migration of the collection
// that began before.
func (w *Write) Refuses() bool { return w.Drops() || w.Forbids() }

// Follow is the write as one that comes after that table.
func (w Write) Follow(before Table) *Write {
	w.Before, w.After = before, nil
	if !w.Drops() {
		w.After = before.With(w.Chunks)
	}
	return &w
}

func (w *Write) change() trace.CatalogChange {
	c, _ := trace.ParseCatalogChange(w.Why)
	return c
}

// Is says whether the write is such a change.
func (w *Write) Is(c trace.CatalogChange) bool { return w.change() == c }

// Forbids says whether after the write the config server commits no migration of the collection
// until another write allows it.
func (w *Write) Forbids() bool { return w.Is(trace.ForbidsMigrations) }

// Migration is the migration or movePrimary that the write commits, empty for any other write.
func (w *Write) Migration() string {
	c, id := trace.ParseCatalogChange(w.Why)
	if c != trace.ChunkMoved && c != trace.PrimaryMoved {
		return ""
	}
	return id
}

// Changes counts the written chunks that were not there before with the same bounds, shard, version
// and history.
func (w *Write) Changes() (n int) {
	for _, c := range w.Chunks {
		same := func(old trace.Chunk) bool {
			return old.Min == c.Min && old.Max == c.Max && old.Shard == c.Shard &&
				old.Major == c.Major && old.Minor == c.Minor && slices.Equal(old.History, c.History)
		}
		if !slices.ContainsFunc(w.Before, same) {
			n++
		}
	}
	return n
}

// Moved are the written chunks whose owner changes, with the former owner; only ranges that had one
// owner before count.
func (w *Write) Moved() (moved []Move) {
	for _, c := range w.Chunks {
		for _, old := range w.Before {
			if lo, hi := max(old.Min, c.Min), min(old.Max, c.Max); lo < hi && old.Shard != c.Shard {
				moved = append(moved, Move{Min: lo, Max: hi, From: old.Shard, To: c.Shard})
			}
		}
	}
	return moved
}

// Move is a range that changes its owner.
type Move struct{ Min, Max, From, To string }

// Same are the major versions of a shard that its members may go by although the catalog has newer
// ones, as those came of changes that leave it what it has: splits, merges and cleared jumbo flags,
// which nobody is told of, and permissions to migrate, which its secondaries are not told of.
type Same struct{ Primary, Secondaries uint32 }
