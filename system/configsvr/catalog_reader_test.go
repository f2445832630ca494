package configsvr

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// member is a log without a replica set: what is committed and forgotten is as the test says.
type member struct {
	data            *store.Store
	entries         []*oplog.Entry // entries[i] has index i+1
	committed, kept uint64         // entries up to kept are forgotten
	scans, followed int            // how often the documents, and entries, were asked for
}

func (m *member) Store() *store.Store   { m.scans++; return m.data }
func (m *member) Applied() oplog.Time   { return oplog.Time{Index: uint64(len(m.entries))} }
func (m *member) Committed() oplog.Time { return oplog.Time{Index: m.committed} }

func (m *member) Entry(index uint64) (*oplog.Entry, uint64, bool) {
	m.followed++
	if index <= m.kept || index > uint64(len(m.entries)) {
		return nil, 0, false
	}
	return m.entries[index-1], 1, true
}

func (m *member) write(b *catalogReader, ops ...oplog.Op) error {
	e := &oplog.Entry{Ops: ops}
	m.entries = append(m.entries, e)
	index := m.Applied().Index
	b.note(index, e)
	return m.data.Apply(index, ops)
}

func collection(ns string, life int) catalog.Collection {
	id := fmt.Sprint(ns, life)
	return catalog.Collection{
		NS:              ns,
		UUID:            id,
		Epoch:           id,
		Timestamp:       hlc.At(int64(life + 1)),
		Key:             key.Pattern{Field: "k"},
		AllowMigrations: true,
	}
}

// made are the operations that make a collection of chunks of ten keys.
func made(coll catalog.Collection, chunks int) ([]oplog.Op, error) {
	var bounds []key.Key
	for i := 1; i < chunks; i++ {
		bounds = append(bounds, key.Int(int64(i)*10))
	}
	first, err := catalog.First(coll, bounds, []string{"shard-a", "shard-b"})
	if err != nil {
		return nil, err
	}
	ops, err := chunkOpsOf(coll, first, "made")
	if err != nil {
		return nil, err
	}
	doc, err := catalog.EncodeCollection(coll)
	return append(ops, putOp(Collections, coll.NS, doc, "made")), err
}

// history drives a book through a random life of two collections.
type history struct {
	t    *rapid.T
	m    *member
	b    *catalogReader
	life int
}

// TestEditions: whatever is written, rolled back or forgotten, the book's tables are those of the
// documents, at the index of the majority and at the latest.
func TestEditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{t: t, m: &member{data: store.New()}}
		h.b = newCatalogReader(h.m)
		steps := map[string]func(ns string){
			"make":         h.make,
			"change":       h.change,
			"change again": h.change,
			"set":          h.set,
			"damage":       h.damage,
			"commit":       h.commit,
			"roll back":    h.rollBack,
			"forget":       h.forget,
			"read":         h.read,
			"read again":   h.read,
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			step := rapid.SampledFrom([]string{
				"make", "change", "change again", "set", "damage", "commit", "roll back", "forget",
				"read", "read again",
			})
			steps[step.Draw(t, "step")](rapid.SampledFrom([]string{"test.a", "test.ab"}).Draw(t,
				"ns"))
		}
		h.read("test.a")
		h.read("test.ab")
	})
}

func (h *history) write(ops []oplog.Op, err error) {
	if err == nil {
		err = h.m.write(h.b, ops...)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) make(ns string) {
	h.life++
	h.write(made(collection(ns, h.life), rapid.IntRange(1, 5).Draw(h.t, "chunks")))
}

// change moves, splits or merges as Server.Replace writes it.
func (h *history) change(ns string) {
	t, err := ReadTable(h.m.data, ns, store.Latest)
	if err != nil {
		return
	}
	c := t.Owner(key.Int(rapid.Int64Range(0, 60).Draw(h.t, "key")))
	point := key.Int(rapid.Int64Range(0, 60).Draw(h.t, "point"))
	var changed []catalog.Chunk
	switch rapid.IntRange(0, 2).Draw(h.t, "kind") {
	case 0:
		changed, err = catalog.Move(t, c.Range, c.Shard, "shard-c",
			hlc.At(int64(100+len(h.m.entries))), catalog.HistoryWindow{})
	case 1:
		changed, err = catalog.Split(t, c.Range, []key.Key{point}, catalog.Minor)
	case 2:
		changed, err = catalog.Merge(t, key.Range{Min: c.Min, Max: t.Owner(c.Max).Max},
			catalog.Major)
	}
	if err != nil || len(changed) == 0 {
		return // not here
	}
	ops, err := chunkOpsOf(t.Collection(), changed, "change")
	h.write(append(deleteSwallowed(t, changed), ops...), err)
}

// set changes a property of the collection.
func (h *history) set(ns string) {
	t, err := ReadTable(h.m.data, ns, store.Latest)
	if err != nil {
		return
	}
	coll := t.Collection()
	coll.AllowMigrations = !coll.AllowMigrations
	doc, err := catalog.EncodeCollection(coll)
	h.write([]oplog.Op{putOp(Collections, ns, doc, "set")}, err)
}

// damage removes a chunk's document, or the collection's: the book must say what the documents say,
// also when they are wrong.
func (h *history) damage(ns string) {
	t, err := ReadTable(h.m.data, ns, store.Latest)
	if err != nil {
		return
	}
	op := oplog.Op{Kind: oplog.Delete, NS: Collections, ID: string(key.String(ns))}
	if rapid.Bool().Draw(h.t, "chunk") {
		min := t.Owner(key.Int(rapid.Int64Range(0, 60).Draw(h.t, "key"))).Min
		op = oplog.Op{
			Kind: oplog.Delete,
			NS:   Chunks,
			ID:   string(key.String(catalog.ChunkID(t.Collection().UUID, min))),
		}
	}
	h.write([]oplog.Op{op}, nil)
}

func (h *history) commit(string) {
	h.m.committed = rapid.Uint64Range(h.m.committed, h.m.Applied().Index).Draw(h.t, "committed")
}

func (h *history) rollBack(string) {
	to := rapid.Uint64Range(h.m.committed, h.m.Applied().Index).Draw(h.t, "to")
	h.m.data.Rollback(to)
	h.m.entries = h.m.entries[:to]
	h.b.rolledBack(to)
}

func (h *history) forget(string) { h.m.kept = h.m.committed }

func (h *history) read(ns string) {
	for _, at := range []uint64{h.m.committed, h.m.Applied().Index} {
		want, wrong := ReadTable(h.m.data, ns, at)
		got, err := h.b.table(ns, at)
		if fmt.Sprint(err) != fmt.Sprint(wrong) {
			h.t.Fatalf("%s at %d: %v, but the documents say %v", ns, at, err, wrong)
		}
		if err == nil && describe(got) != describe(want) {
			h.t.Fatalf("%s at %d is\n%sbut the documents say\n%s",
				ns, at, describe(got), describe(want))
		}
	}
}

// TestChangesAreFollowed: once a table is known, chunks that are moved, split and merged cost the
// entries that say so, each once, and no pass over the documents.
func TestChangesAreFollowed(t *testing.T) {
	m := &member{data: store.New()}
	b := newCatalogReader(m)
	written := 0
	write := func(ops []oplog.Op, err error) {
		if err == nil {
			err = m.write(b, ops...)
		}
		if err != nil {
			t.Fatal(err)
		}
		written++
	}
	read := func() *catalog.Table {
		table, err := b.latest("test.a")
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	write(made(collection("test.a", 0), 3))
	table := read()
	scans, known := m.scans, written
	c := table.Owner(key.Int(15))
	changes := []func(*catalog.Table) ([]catalog.Chunk, error){
		func(t *catalog.Table) ([]catalog.Chunk, error) {
			return catalog.Move(t, c.Range, c.Shard, "shard-c", hlc.At(9), catalog.HistoryWindow{})
		},
		func(t *catalog.Table) ([]catalog.Chunk, error) {
			return catalog.Split(t, c.Range, []key.Key{key.Int(13)}, catalog.Minor)
		},
		func(t *catalog.Table) ([]catalog.Chunk, error) {
			return catalog.Merge(t, c.Range, catalog.Major)
		},
	}
	for _, change := range changes {
		changed, err := change(table)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := chunkOpsOf(table.Collection(), changed, "change")
		write(append(deleteSwallowed(table, changed), ops...), err)
		write(made(collection("test.b", written), 1)) // which is not about the table
		table = read()
		read()
	}
	if m.scans != scans || m.followed != written-known {
		t.Errorf("%d passes over the documents, and %d entries read for %d",
			m.scans-scans, m.followed, written-known)
	}
}

func describe(t *catalog.Table) string {
	said := fmt.Sprintln(t.Collection(), t.Version())
	for c := range t.Chunks() {
		said += fmt.Sprintln(c, c.History, t.ShardVersion(c.Shard))
	}
	return said
}

// BenchmarkRoutingTable is a migration that is written, and the increment that who knew the table
// before it is given: it grows with the logarithm of the chunks.
func BenchmarkRoutingTable(b *testing.B) {
	for chunks := 1_000; chunks <= 1_000_000; chunks *= 10 {
		m := &member{data: store.New()}
		book := newCatalogReader(m)
		ops, err := made(collection("test.docs", 0), chunks)
		if err == nil {
			err = m.write(book, ops...)
		}
		if err != nil {
			b.Fatal(err)
		}
		if _, err := book.latest("test.docs"); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("chunks=%d", chunks), func(b *testing.B) {
			for b.Loop() {
				if n := len(increment(b, m, book)); n == 0 || n > 4 {
					b.Fatalf("an increment of %d chunks", n)
				}
			}
		})
	}
}

// increment moves the middle chunk and returns what a router that has seen everything before is
// given.
func increment(b *testing.B, m *member, book *catalogReader) []catalog.Chunk {
	t, err := book.latest("test.docs")
	if err != nil {
		b.Fatal(err)
	}
	c := t.Owner(key.Int(int64(t.Len()) * 5))
	to := map[string]string{"shard-a": "shard-b", "shard-b": "shard-a"}[c.Shard]
	moved, err := catalog.Move(t, c.Range, c.Shard, to, hlc.At(int64(100+len(m.entries))),
		catalog.HistoryWindow{})
	if err != nil {
		b.Fatal(err)
	}
	ops, err := chunkOpsOf(t.Collection(), moved, "move")
	if err == nil {
		err = m.write(book, ops...)
	}
	if err != nil {
		b.Fatal(err)
	}
	m.committed = m.Applied().Index
	m.data.SetOldest(m.committed)
	now, err := book.table("test.docs", m.committed)
	if err != nil {
		b.Fatal(err)
	}
	return now.Since(t.Version())
}
