package store

import (
	"bytes"
	"strings"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/oplog"
)

// Apply makes the operations of the entry at index visible to readers at that index and later.
// Insert and Update set the document, Delete of a missing one does nothing. Collections are made by
// Create; only those of the database config come into being with their first document.
//
// An error means that the entry does not fit the state, which is then unchanged; the index must be
// higher than Applied.
func (s *Store) Apply(index uint64, ops []oplog.Op) error {
	if index <= s.applied {
		return errcode.New(errcode.Internal, "entry %d does not follow %d", index, s.applied)
	}
	before := s.applied
	s.applied = index
	for i := range ops {
		if err := s.apply(index, &ops[i]); err != nil {
			s.Rollback(before)
			return err
		}
	}
	return nil
}

func (s *Store) apply(index uint64, op *oplog.Op) error {
	switch op.Kind {
	case oplog.Insert, oplog.Update:
		return s.set(index, op)
	case oplog.Delete:
		if c := s.at(op.NS, Latest); c != nil {
			return s.put(index, c, op.ID, nil)
		}
	case oplog.Create:
		return s.create(index, op)
	case oplog.Drop:
		return s.drop(index, op.NS)
	case oplog.CreateIndex, oplog.DropIndex:
		return s.setIndex(index, op)
	case oplog.Rename:
		return s.rename(index, op.NS, op.ID)
	case oplog.Shard:
		return s.shard(index, op)
	case oplog.Noop:
	default:
		return errcode.New(errcode.Internal, "entry %d has an operation of kind %v", index, op.Kind)
	}
	return nil
}

func (s *Store) set(index uint64, op *oplog.Op) error {
	if op.Doc == nil || op.ID == "" {
		return errcode.New(errcode.Internal, "entry %d sets %x in %s to %v",
			index, op.ID, op.NS, op.Doc)
	}
	c := s.at(op.NS, Latest)
	if c == nil {
		if !strings.HasPrefix(op.NS, "config.") && !strings.HasPrefix(op.NS, "admin.") {
			return errcode.New(errcode.NamespaceNotFound, "there is no collection %s at entry %d",
				op.NS, index)
		}
		c = &collectionData{}
		s.become(index, op.NS, c)
	}
	return s.put(index, c, op.ID, op.Doc)
}

func (s *Store) put(index uint64, c *collectionData, id string, doc []byte) error {
	s.changes++
	r, err := c.put(index, id, doc)
	if r != nil {
		s.undo.push(undoChange{record: r, version: r.head})
	}
	return err
}

// create is harmless when the collection exists with the same options already.
func (s *Store) create(index uint64, op *oplog.Op) error {
	if c := s.at(op.NS, Latest); c != nil {
		if bytes.Equal(c.options, op.Doc) {
			return nil
		}
		return errcode.New(errcode.Internal, "entry %d creates %s with %v, which exists with %v",
			index, op.NS, op.Doc, c.options)
	}
	c, err := newCollection(op.Doc)
	if err == nil {
		s.become(index, op.NS, c)
	}
	return err
}

func (s *Store) drop(index uint64, ns string) error {
	if s.at(ns, Latest) == nil {
		return nil
	}
	s.become(index, ns, nil)
	return s.dropIndexes(index, ns)
}

// rename has the collection live on under another name; readers of earlier indexes find it under
// the old one.
func (s *Store) rename(index uint64, from, to string) error {
	c := s.at(from, Latest)
	if c == nil || s.at(to, Latest) != nil {
		return errcode.New(errcode.Internal,
			"entry %d renames %s to %s: there must be the first and not the second",
			index, from, to)
	}
	s.become(index, from, nil)
	s.become(index, to, c)
	return s.renameIndexes(index, from, to)
}

// shard has the documents live on in the order of another key; readers of earlier indexes find them
// in the order that they had.
func (s *Store) shard(index uint64, op *oplog.Op) error {
	old := s.at(op.NS, Latest)
	if old == nil {
		return errcode.New(errcode.NamespaceNotFound,
			"entry %d shards %s, which does not exist", index, op.NS)
	}
	c, err := newCollection(op.Doc)
	if err != nil {
		return err
	}
	old.records.Scan(func(id string, r *docRecord) bool {
		if doc := r.latest(); doc != nil {
			_, err = c.put(index, id, doc)
		}
		return err == nil
	})
	if err == nil {
		s.become(index, op.NS, c)
	}
	return err
}

// become sets what the namespace means from index on.
func (s *Store) become(index uint64, ns string, c *collectionData) {
	s.changes++
	n, ok := s.namespaces.Get(ns)
	if !ok {
		n = &namespaceHistory{name: ns}
		s.namespaces.Set(ns, n)
	}
	if n.head != nil && n.head.index == index { // made and dropped, or the reverse, in one entry
		n.head.collection = c
		return
	}
	n.head = &namespaceChange{namespace: n, index: index, collection: c, before: n.head}
	s.undo.push(undoChange{incarnation: n.head})
}
