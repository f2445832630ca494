package configsvr

import (
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/status"
	"github.com/shardproof/shardproof/system/store"
)

// The namespaces of the catalogue (protocol 2.1).
const (
	Collections = "config.collections"
	Chunks      = "config.chunks"
	Shards      = "config.shards"
	Changelog   = "config.changelog"
	Databases   = "config.databases"
	Tags        = "config.tags"
	Settings    = "config.settings"
)

// book reads the catalogue's documents, at any index the store still knows.
//
// Invariant: written lists the indexes of the entries after base that changed the catalogue, in their order; a table read
// at an index is that of the last such entry up to it, so tables are decoded once for each change.
type book struct {
	member  *replset.Member
	base    uint64
	written []uint64
	tables  map[string][]edition
}

// edition is a routing table and the entry that made it so.
type edition struct {
	index uint64
	table *catalog.Table
}

// editions is how many tables of a collection are kept: the majority's and the latest.
const editions = 2

func newBook(m *replset.Member) *book {
	b := &book{member: m}
	b.forget(m.Applied().Index)
	return b
}

// forget drops everything known; nothing is kept of states before base.
func (b *book) forget(base uint64) {
	b.base, b.written, b.tables = base, nil, make(map[string][]edition)
}

// note takes in a new entry.
func (b *book) note(index uint64, e *oplog.Entry) {
	for i := range e.Ops {
		if ns := e.Ops[i].NS; ns == Chunks || ns == Collections || ns == Databases {
			b.written = append(b.written, index)
			return
		}
	}
}

// rolledBack forgets what rested on entries after to.
func (b *book) rolledBack(to uint64) {
	if to < b.base {
		b.forget(to)
		return
	}
	b.written = b.written[:sort.Search(len(b.written), func(i int) bool { return b.written[i] > to })]
	b.tables = make(map[string][]edition)
}

// edition is the index of the last entry up to at that changed the catalogue; false when that is not known.
func (b *book) edition(at uint64) (uint64, bool) {
	if at < b.base {
		return 0, false
	}
	if n := sort.Search(len(b.written), func(i int) bool { return b.written[i] > at }); n > 0 {
		return b.written[n-1], true
	}
	return b.base, true
}

// table returns a collection's routing table at an index: status.NamespaceNotFound when there is no such collection.
func (b *book) table(ns string, at uint64) (*catalog.Table, error) {
	index, known := b.edition(at)
	for _, kept := range b.tables[ns] {
		if known && kept.index == index {
			return kept.table, nil
		}
	}
	table, err := ReadTable(b.member.Store(), ns, at)
	if err == nil && known {
		b.keep(ns, edition{index, table})
	}
	return table, err
}

func (b *book) keep(ns string, e edition) {
	kept := append(b.tables[ns], e)
	sort.Slice(kept, func(i, j int) bool { return kept[i].index < kept[j].index })
	b.tables[ns] = kept[max(0, len(kept)-editions):]
}

// ReadTable reads a collection's routing table from the documents of a member at an index. A collection that is not
// sharded is where its database is; without a database there is none: status.NamespaceNotFound.
func ReadTable(data *store.Store, ns string, at uint64) (*catalog.Table, error) {
	doc := data.Get(Collections, string(key.String(ns)), at)
	if doc == nil {
		return readUnsharded(data, ns, at)
	}
	coll, err := catalog.DecodeCollection(doc)
	if err != nil {
		return nil, err
	}
	var chunks []catalog.Chunk
	data.Scan(Chunks, at, func(_ string, doc bson.Raw) bool {
		if uuid, ok := doc.Lookup("uuid").StringValueOK(); !ok || uuid != coll.UUID {
			return true
		}
		var c catalog.Chunk
		c, err = catalog.DecodeChunk(coll, doc)
		chunks = append(chunks, c)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return catalog.NewTable(coll, chunks)
}

// latest is the table as the primary has it now.
func (b *book) latest(ns string) (*catalog.Table, error) {
	return b.table(ns, b.member.Applied().Index)
}

// Shard is a document of config.shards.
type Shard struct {
	Name string `bson:"_id"`
	Host string `bson:"host"`
	// Draining means that the shard is being removed: it takes no chunks.
	Draining bool `bson:"draining,omitempty"`
	// MaxBytes is from how much data on the balancer gives the shard no more; 0 is no limit (4.2, protocol 2.1).
	MaxBytes int64 `bson:"maxSize,omitempty"`
	// Zones are those whose ranges the shard may have.
	Zones []string `bson:"tags,omitempty"`
}

// shard returns the document of a shard as the primary has it now: status.ShardNotFound when there is none.
func (b *book) shard(name string) (Shard, error) {
	return ReadShard(b.member.Store(), name, store.Latest)
}

// ReadShard reads a shard from the documents of a member at an index: status.ShardNotFound when there is none.
func ReadShard(data *store.Store, name string, at uint64) (doc Shard, err error) {
	raw := data.Get(Shards, string(key.String(name)), at)
	if raw == nil {
		return doc, status.New(status.ShardNotFound, "there is no shard %q", name)
	}
	return doc, bson.Unmarshal(raw, &doc)
}
