// Package store is the data of one member: collections of documents in the order of their _id and
// of their shard key, in every state since some index of the log.
//
// Promise: a read at an index sees exactly what the entries up to it left, regardless of what was
// applied since; Rollback restores the state of an index exactly; all costs of an operation are
// logarithmic in the size, and history is dropped at no more than the cost of having made it.
//
// Refusal: it does not check who may write, does not log, and does not survive a crash: the log and
// Snapshot do.
package store

import (
	"math"

	"github.com/tidwall/btree"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// Latest is the index to read at for the newest applied state.
const Latest uint64 = math.MaxUint64

// Store is a member's data. Documents that it returns must not be changed. Functions that take a
// callback must not be used to change the store from inside the callback.
type Store struct {
	namespaces btree.Map[string, *namespaceHistory]
	applied    uint64
	oldest     uint64
	undo       changeQueue
	changes    uint64
	// recent are namespaces that were asked for lately, by the length of their names: nil or one of
	// namespaces. Few are in use, whose lengths mostly differ.
	recent [16]*namespaceHistory
}

// namespaceHistory is a name and the collections it has meant. A nil collection is a dropped one.
type namespaceHistory struct {
	name string
	head *namespaceChange
}

type namespaceChange struct {
	namespace  *namespaceHistory
	index      uint64
	collection *collectionData
	before     *namespaceChange
}

// New returns an empty store at index 0.
func New() *Store { return &Store{} }

// Applied is the index of the last entry in the store.
func (s *Store) Applied() uint64 { return s.applied }

// Changes counts what has changed in the store, rollbacks included: what was read at Latest is
// still so while the count is the same.
func (s *Store) Changes() uint64 { return s.changes }

// Oldest is the lowest index that can be read at.
func (s *Store) Oldest() uint64 { return s.oldest }

// Mark stands for the documents of a collection: two reads with the same Mark, of both of which
// Store.Mark said that they see the newest versions, see the same. It keeps them in memory.
type Mark struct {
	collection *collectionData
	changes    uint64
}

// Mark is that of the collection as it was at an index, and whether nothing in it is newer.
func (s *Store) Mark(ns string, at uint64) (m Mark, newest bool) {
	c := s.at(ns, at)
	if c == nil {
		return Mark{}, true
	}
	return Mark{c, c.changes}, c.changed <= at
}

func (s *Store) at(ns string, index uint64) *collectionData {
	if index < s.oldest {
		panic(errcode.New(errcode.Internal, "a read of %s at %d, but history begins at %d",
			ns, index, s.oldest))
	}
	recent := &s.recent[len(ns)%len(s.recent)]
	if *recent == nil || (*recent).name != ns {
		n, ok := s.namespaces.Get(ns)
		if !ok {
			return nil
		}
		*recent = n
	}
	return (*recent).at(index)
}

func (n *namespaceHistory) at(index uint64) *collectionData {
	for i := n.head; i != nil; i = i.before {
		if i.index <= index {
			return i.collection
		}
	}
	return nil
}

// Get returns the document with this encoded _id as it was at the index, nil when there was none.
func (s *Store) Get(ns, id string, at uint64) bson.Raw {
	c := s.at(ns, at)
	if c == nil {
		return nil
	}
	if r, ok := c.records.Get(id); ok {
		if v := r.at(at); v != nil {
			return v.doc
		}
	}
	return nil
}

// Scan calls fn for the documents in the order of their _id until it returns false.
func (s *Store) Scan(ns string, at uint64, fn func(id string, doc bson.Raw) bool) {
	c := s.at(ns, at)
	if c == nil {
		return
	}
	c.records.Scan(func(id string, r *docRecord) bool {
		v := r.at(at)
		return v == nil || v.doc == nil || fn(id, v.doc)
	})
}

// Count is the number of documents; it looks at each.
func (s *Store) Count(ns string, at uint64) int {
	n := 0
	s.Scan(ns, at, func(string, bson.Raw) bool {
		n++
		return true
	})
	return n
}

// Place is a document's place in the order of the shard key. The zero Place is before all.
type Place struct {
	Key key.Key
	ID  string
}

// ScanKey calls fn for the documents behind after whose shard key is in the range, in the order of
// shard key and _id, until it returns false. The shard key of a collection that has none is the
// _id.
func (s *Store) ScanKey(
	ns string, rng key.Range, at uint64, after Place,
	fn func(k key.Key, id string, doc bson.Raw) bool,
) {
	c := s.at(ns, at)
	switch {
	case c == nil:
	case c.pattern.IsZero():
		c.scanID(rng, at, after, fn)
	default:
		c.scanKey(rng, at, after, fn)
	}
}

// Collections returns the names of the collections that exist, sorted.
func (s *Store) Collections(at uint64) []string {
	var names []string
	s.namespaces.Scan(func(name string, n *namespaceHistory) bool {
		if n.at(at) != nil {
			names = append(names, name)
		}
		return true
	})
	return names
}

// Options returns what the collection was created with; nil, false when it does not exist, nil,
// true when it was made implicitly.
func (s *Store) Options(ns string) (bson.Raw, bool) {
	c := s.at(ns, Latest)
	if c == nil {
		return nil, false
	}
	return c.options, true
}

// Pattern returns the shard key that the collection had at an index, the zero pattern for one that
// was made implicitly; false when there was no such collection.
func (s *Store) Pattern(ns string, at uint64) (key.Pattern, bool) {
	c := s.at(ns, at)
	if c == nil {
		return key.Pattern{}, false
	}
	return c.pattern, true
}

// KeyOf returns the shard key of a document as the collection defines it; false when the collection
// does not exist, has no shard key, or the document cannot have one.
func (s *Store) KeyOf(ns string, doc bson.Raw) (key.Key, bool) {
	c := s.at(ns, Latest)
	if c == nil || c.pattern.IsZero() {
		return "", false
	}
	k, err := c.pattern.Of(doc)
	return k, err == nil
}
