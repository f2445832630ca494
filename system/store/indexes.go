package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/oplog"
)

// IndexesNS holds one document for each index of a collection but that of its shard key. An index
// has no effect on what is read; what counts is that all members, and all shards of a collection,
// have the same ones. Kept as documents, they are rolled back, trimmed and copied like all others.
const IndexesNS = "config.localIndexes"

func indexID(ns, name string) string { return ns + "\x00" + name }

// setIndex makes, changes or removes an index of a collection that exists.
func (s *Store) setIndex(index uint64, op *oplog.Op) error {
	if s.at(op.NS, Latest) == nil {
		return errcode.New(errcode.NamespaceNotFound,
			"entry %d changes index %s of %s, which does not exist", index, op.ID, op.NS)
	}
	if op.Kind == oplog.CreateIndex && op.Doc == nil {
		return errcode.New(errcode.Internal,
			"entry %d makes index %s of %s and does not describe it", index, op.ID, op.NS)
	}
	one := oplog.Op{Kind: oplog.Update, NS: IndexesNS, ID: indexID(op.NS, op.ID), Doc: op.Doc}
	if op.Kind == oplog.DropIndex {
		one.Kind, one.Doc = oplog.Delete, nil
	}
	return s.apply(index, &one)
}

// dropIndexes removes the indexes of a collection that goes.
func (s *Store) dropIndexes(index uint64, ns string) error {
	for _, i := range s.Indexes(ns) {
		err := s.apply(index, &oplog.Op{Kind: oplog.Delete, NS: IndexesNS, ID: indexID(ns, i.Name)})
		if err != nil {
			return err
		}
	}
	return nil
}

// renameIndexes has the indexes follow their collection.
func (s *Store) renameIndexes(index uint64, from, to string) error {
	for _, i := range s.Indexes(from) {
		err := s.apply(index,
			&oplog.Op{Kind: oplog.Update, NS: IndexesNS, ID: indexID(to, i.Name), Doc: i.Doc})
		if err != nil {
			return err
		}
	}
	return s.dropIndexes(index, from)
}

// Index is an index of a collection and the document that describes it.
type Index struct {
	Name string
	Doc  bson.Raw
}

// Indexes lists the indexes of a collection as they are now, by name.
func (s *Store) Indexes(ns string) (all []Index) {
	prefix := indexID(ns, "")
	s.Scan(IndexesNS, Latest, func(id string, doc bson.Raw) bool {
		if len(id) > len(prefix) && id[:len(prefix)] == prefix {
			all = append(all, Index{id[len(prefix):], doc})
		}
		return true
	})
	return all
}
