package catalog

import (
	"iter"

	"github.com/shardproof/shardproof/system/key"
)

// Entry is a chunk within a table, of which only as much is read as is asked for: a pass over a big
// table spends its time on waiting for memory.
type Entry struct {
	chunk *Chunk
	owner int32
}

// Owner is the number of the shard that has the chunk: its place in Table.Owners.
func (e Entry) Owner() int { return int(e.owner) }

// Chunk is the chunk.
func (e Entry) Chunk() Chunk { return *e.chunk }

// Min is where the chunk begins.
func (e Entry) Min() key.Key { return e.chunk.Min }

// Jumbo reports whether the chunk is marked as too big to move.
func (e Entry) Jumbo() bool { return e.chunk.Jumbo }

// Owners returns the shards by their numbers, which are those of this table alone. A shard may be
// among them that has no chunk any more.
func (t *Table) Owners() []string {
	names := make([]string, t.shards.Len())
	t.shards.Scan(func(shard string, o *shardVersions) bool {
		names[o.number] = shard
		return true
	})
	return names
}

// Beginning returns the chunks that begin in r, in the order of their keys.
func (t *Table) Beginning(r key.Range) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		if r.Empty() {
			return
		}
		beyond := t.from(r.Max)
		t.chunks.Ascend(string(r.Min), func(_ string, e Entry) bool {
			return e != beyond && yield(e)
		})
	}
}

// at is the last chunk that begins at k or below; the zero entry when there is none.
func (t *Table) at(k key.Key) (last Entry) {
	t.chunks.Descend(string(k), func(_ string, e Entry) bool {
		last = e
		return false
	})
	return last
}

// from is the first chunk that begins at k or above; the zero entry when there is none.
func (t *Table) from(k key.Key) (first Entry) {
	t.chunks.Ascend(string(k), func(_ string, e Entry) bool {
		first = e
		return false
	})
	return first
}

// Owning returns the shards that own a part of r, each once, in the order of their first keys in r.
// It looks no further once it has found all shards.
func (t *Table) Owning(r key.Range) []string {
	if r.Empty() {
		return nil
	}
	var found []string
	seen := make([]uint64, t.shards.Len()/64+1) // a bit for each number
	see := func(e Entry) {
		if word, bit := &seen[e.owner/64], uint64(1)<<(e.owner%64); *word&bit == 0 {
			*word |= bit
			found = append(found, e.chunk.Shard)
		}
	}
	see(t.at(r.Min))
	for e := range t.Beginning(r) {
		if see(e); len(found) == t.owning {
			break
		}
	}
	return found
}
