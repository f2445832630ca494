package configsvr

import (
	"slices"
	"sort"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// catalogReader reads the catalog's documents, at any index the store still knows. What it has
// read it remembers, so that a change costs what it changes and not a pass over all chunks. Of a
// collection that is not sharded, or not any more, there is nothing to remember: clients may ask
// for any number of names.
//
// Invariant: written lists the indexes of the entries after base that changed the catalog, in
// their order. The caches of a collection are in order and do not overlap, and none is of an index
// before base.
type catalogReader struct {
	log     appliedLog
	base    uint64
	written []uint64
	caches  map[string][]catalogCache
}

// appliedLog is what the catalog reader needs of a member.
type appliedLog interface {
	Store() *store.Store
	Applied() oplog.Time
	Committed() oplog.Time
	// Entry is false for an entry that is not kept any more.
	Entry(index uint64) (*oplog.Entry, uint64, bool)
}

// catalogCache is the routing table of a collection at every index from first to last.
type catalogCache struct {
	first, last uint64
	table       *catalog.Table
}

func newCatalogReader(log appliedLog) *catalogReader {
	b := &catalogReader{log: log}
	b.forget(log.Applied().Index)
	return b
}

// forget drops everything known; nothing is kept of states before base.
func (b *catalogReader) forget(base uint64) {
	b.base, b.written, b.caches = base, nil, make(map[string][]catalogCache)
}

// note takes in a new entry.
func (b *catalogReader) note(index uint64, e *oplog.Entry) {
	for i := range e.Ops {
		if ns := e.Ops[i].NS; ns == Chunks || ns == Collections || ns == Databases {
			b.written = append(b.written, index)
			return
		}
	}
}

// rolledBack forgets what rested on entries after to.
func (b *catalogReader) rolledBack(to uint64) {
	b.written = b.written[:sort.Search(len(b.written), func(i int) bool {
		return b.written[i] > to
	})]
	b.caches = make(map[string][]catalogCache)
}

// table returns a collection's routing table at an index: errcode.NamespaceNotFound when there is
// no such collection.
func (b *catalogReader) table(ns string, at uint64) (*catalog.Table, error) {
	if at < b.base {
		return ReadTable(b.log.Store(), ns, at)
	}
	known := b.caches[ns]
	n := sort.Search(len(known), func(i int) bool { return known[i].first > at })
	if n > 0 {
		if e, ok := b.follow(ns, known[n-1], at); ok {
			b.remember(ns, n, e)
			return e.table, nil
		}
	}
	table, err := ReadTable(b.log.Store(), ns, at)
	switch {
	case err == nil && !table.Collection().Unsharded:
		b.remember(ns, n, catalogCache{at, at, table})
	case n == len(known): // it is gone
		delete(b.caches, ns)
	}
	return table, err
}

// follow goes from a cache to the table at an index. It is false when that is not known from the
// entries between alone.
func (b *catalogReader) follow(ns string, e catalogCache, at uint64) (catalogCache, bool) {
	next := sort.Search(len(b.written), func(i int) bool { return b.written[i] > e.last })
	for ; next < len(b.written) && b.written[next] <= at; next++ {
		index := b.written[next]
		entry, _, kept := b.log.Entry(index)
		if !kept {
			return e, false
		}
		table, clear := tableAfter(e.table, ns, entry)
		if !clear {
			return e, false
		}
		if table != e.table {
			e = catalogCache{index, index, table}
		}
	}
	e.last = max(e.last, at)
	return e, true
}

// remember adds a cache, or extends the one before n, and drops those before the one that a
// majority has: nobody asks for them any more.
func (b *catalogReader) remember(ns string, n int, e catalogCache) {
	known := b.caches[ns]
	if n > 0 && known[n-1].first == e.first {
		known[n-1] = e
	} else {
		known = slices.Insert(known, n, e)
	}
	committed := b.log.Committed().Index
	asked := sort.Search(len(known), func(i int) bool { return known[i].first > committed })
	b.caches[ns] = slices.Delete(known, 0, max(0, asked-1))
}

// tableAfter is a collection's table after an entry, the same one when the entry is about something
// else. It is false when the collection itself was made, dropped or remade, and when chunks were
// not replaced exactly: then all documents have to be read.
func tableAfter(t *catalog.Table, ns string, e *oplog.Entry) (*catalog.Table, bool) {
	coll := t.Collection()
	ids := catalog.ChunkIDs(coll.UUID)
	var written []catalog.Chunk
	var deleted []key.Key
	for i := range e.Ops {
		switch op := &e.Ops[i]; {
		case op.NS == Collections && op.ID == string(key.String(ns)),
			op.NS == Databases && coll.Unsharded:
			return nil, false
		case op.NS != Chunks || coll.Unsharded || !ids.Contains(key.Key(op.ID)):
		case op.Doc == nil:
			deleted = append(deleted, catalog.ChunkMin(coll.UUID, nameOf(op.ID)))
		default:
			c, err := catalog.DecodeChunk(coll, op.Doc)
			if err != nil {
				return nil, false
			}
			written = append(written, c)
		}
	}
	if len(written)+len(deleted) == 0 {
		return t, true
	}
	next, err := t.With(written)
	return next, err == nil && isCompleteRewrite(t, next, written, deleted)
}

// isCompleteRewrite reports that a table made of the chunks written is also that of the documents
// that are left: each chunk they replace was written over or deleted, and no other was deleted. As
// both are partitions, counting is enough.
func isCompleteRewrite(
	before, now *catalog.Table, written []catalog.Chunk, deleted []key.Key,
) bool {
	gone := 0
	for _, c := range written {
		if before.Owner(c.Min).Min == c.Min {
			gone++
		}
	}
	for _, min := range deleted {
		if before.Owner(min).Min == min {
			gone++
		}
		if now.Owner(min).Min == min {
			return false
		}
	}
	return before.Len()-gone+len(written) == now.Len()
}
