package store

import (
	"github.com/tidwall/btree"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
)

// collectionData holds the documents of one incarnation of a collection, under any name.
type collectionData struct {
	options bson.Raw
	pattern key.Pattern
	records btree.Map[string, *docRecord]
	index   btree.Map[string, *indexEntry] // by shard key and _id; empty without a pattern
	// documents and bytes are of the newest versions.
	documents, bytes int64
	// changes counts the versions that came and went, and no version is newer than changed.
	changes, changed uint64
}

// docRecord is a document through time, newest version first. Invariant: indexes strictly decrease
// along the chain.
type docRecord struct {
	collection *collectionData
	id         string
	head       *docVersion
}

type docVersion struct {
	index  uint64
	doc    bson.Raw    // nil: deleted
	place  *indexEntry // nil for a deleted document and without a shard key
	before *docVersion
}

// indexEntry is an entry of the index. A record has one for each shard key that any of its versions
// has; a reader must see that the version it reads is one of them.
type indexEntry struct {
	key    key.Key
	record *docRecord
	uses   int // versions that have this key
}

func (p *indexEntry) path() string { return string(p.key) + p.record.id }

func newCollection(options bson.Raw) (*collectionData, error) {
	_, pattern, err := DecodeOptions(options)
	return &collectionData{options: options, pattern: pattern}, err
}

func (r *docRecord) at(index uint64) *docVersion {
	for v := r.head; v != nil; v = v.before {
		if v.index <= index {
			return v
		}
	}
	return nil
}

// latest is the document now, nil when there is none.
func (r *docRecord) latest() bson.Raw {
	if r.head == nil {
		return nil
	}
	return r.head.doc
}

// count follows the newest version of a record from one document to another; nil is none.
func (c *collectionData) count(from, to bson.Raw) {
	c.bytes += int64(len(to) - len(from))
	if from != nil {
		c.documents--
	}
	if to != nil {
		c.documents++
	}
}

// put makes doc, or for nil its absence, the newest version. It returns the record when the version
// is new, and nil when it took the place of one with the same index.
func (c *collectionData) put(index uint64, id string, doc bson.Raw) (*docRecord, error) {
	r, known := c.records.Get(id)
	if doc == nil && (!known || r.head.doc == nil) {
		return nil, nil
	}
	if !known {
		r = &docRecord{collection: c, id: id}
	}
	at, err := c.settle(r, doc)
	if err != nil {
		return nil, err
	}
	if !known {
		c.records.Set(id, r)
	}
	c.count(r.latest(), doc)
	c.changes++
	c.changed = index
	if r.head != nil && r.head.index == index {
		c.leave(r.head.place)
		r.head.doc, r.head.place = doc, at
		return nil, nil
	}
	r.head = &docVersion{index: index, doc: doc, place: at, before: r.head}
	return r, nil
}

// settle returns the index entry of a document, counted once more.
func (c *collectionData) settle(r *docRecord, doc bson.Raw) (*indexEntry, error) {
	if doc == nil || c.pattern.IsZero() {
		return nil, nil
	}
	k, err := c.pattern.Of(doc)
	if err != nil {
		return nil, err
	}
	if r.head != nil && r.head.place != nil && r.head.place.key == k {
		r.head.place.uses++
		return r.head.place, nil
	}
	path := string(k) + r.id
	p, known := c.index.Get(path)
	if !known {
		p = &indexEntry{key: k, record: r}
		c.index.Set(path, p)
	}
	p.uses++
	return p, nil
}

// leave undoes settle.
func (c *collectionData) leave(p *indexEntry) {
	if p == nil {
		return
	}
	if p.uses--; p.uses == 0 {
		c.index.Delete(p.path())
	}
}

// pop forgets the newest version.
func (c *collectionData) pop(r *docRecord) {
	c.leave(r.head.place)
	undone := r.latest()
	c.changes++
	r.head = r.head.before
	c.count(undone, r.latest())
	c.sweep(r)
}

// trim forgets what came before v.
func (c *collectionData) trim(r *docRecord, v *docVersion) {
	if v.before != nil {
		c.leave(v.before.place)
		v.before = nil
	}
	c.sweep(r)
}

// sweep removes a record that no reader can see any more.
func (c *collectionData) sweep(r *docRecord) {
	if r.head == nil || r.head.doc == nil && r.head.before == nil {
		if now, ok := c.records.Get(r.id); ok && now == r {
			c.records.Delete(r.id)
		}
	}
}

func (c *collectionData) scanID(
	rng key.Range, at uint64, after Place, fn func(key.Key, string, bson.Raw) bool,
) {
	from := max(rng.Min, after.Key)
	c.records.Ascend(string(from), func(id string, r *docRecord) bool {
		if id >= string(rng.Max) {
			return false
		}
		v, done := r.at(at), id == string(after.Key) && id <= after.ID
		return done || v == nil || v.doc == nil || fn(key.Key(id), id, v.doc)
	})
}

func (c *collectionData) scanKey(
	rng key.Range, at uint64, after Place, fn func(key.Key, string, bson.Raw) bool,
) {
	done := string(after.Key) + after.ID
	c.index.Ascend(max(string(rng.Min), done), func(path string, p *indexEntry) bool {
		if p.key >= rng.Max {
			return false
		}
		v := p.record.at(at)
		return path == done || v == nil || v.place != p || fn(p.key, p.record.id, v.doc)
	})
}

// descendID and descendKey go through the newest versions from the upper end of the range.
func (c *collectionData) descendID(rng key.Range, fn func(key.Key, bson.Raw) bool) {
	c.records.Descend(string(rng.Max), func(id string, r *docRecord) bool {
		switch doc := r.latest(); {
		case id < string(rng.Min):
			return false
		case id >= string(rng.Max) || doc == nil:
			return true
		default:
			return fn(key.Key(id), doc)
		}
	})
}

func (c *collectionData) descendKey(rng key.Range, fn func(key.Key, bson.Raw) bool) {
	c.index.Descend(string(rng.Max), func(_ string, p *indexEntry) bool {
		switch {
		case p.key < rng.Min:
			return false
		case p.key >= rng.Max || p.record.head.place != p:
			return true
		default:
			return fn(p.key, p.record.head.doc)
		}
	})
}
