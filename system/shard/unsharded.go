package shard

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// Operations on unsharded collections are writes of the primary shard: let in by the version of the
// database, refused while its primary moves, one entry of the log each.

func (s *Server) createUnsharded(
	t env.Task, _ env.NodeID, req *command.CreateUnsharded,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.alter(t, r, func(w *writeCommand) (oplog.Op, error) {
		if s.uuid(req.NS) == "" {
			return oplog.Op{Kind: oplog.Create, Doc: s.newUnsharded(req)}, nil
		}
		if req.Exclusive {
			return oplog.Op{}, errcode.New(errcode.NamespaceExists,
				"collection %s exists", req.NS)
		}
		return oplog.Op{Kind: oplog.Noop}, nil
	})
}

// newUnsharded is how a new collection is described. Its identity holds the time, which makes it
// unique.
func (s *Server) newUnsharded(req *command.CreateUnsharded) bson.Raw {
	uuid := fmt.Sprintf("uuid-%s-%s", req.NS, s.Clock().Tick())
	options := store.EncodeOptions(uuid, catalog.Unsharded)
	if len(req.Options) == 0 {
		return options
	}
	open := options[4 : len(options)-1]
	b := append(make([]byte, 4), open...)
	b = bsoncore.AppendDocumentElement(b, "options", bsoncore.Document(req.Options))
	doc, err := bsoncore.AppendDocumentEnd(b, 0)
	if err != nil {
		panic(err) // the document was begun with the length that it gets here
	}
	return bson.Raw(doc)
}

func (s *Server) dropUnsharded(
	t env.Task, _ env.NodeID, req *command.DropUnsharded,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.alter(t, r, func(w *writeCommand) (oplog.Op, error) {
		if s.uuid(req.NS) == "" {
			return oplog.Op{Kind: oplog.Noop}, nil
		}
		return oplog.Op{Kind: oplog.Drop}, nil
	})
}

func (s *Server) indexUnsharded(
	t env.Task, _ env.NodeID, req *command.IndexUnsharded,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.alter(t, r, func(w *writeCommand) (oplog.Op, error) {
		if s.uuid(req.NS) == "" {
			return oplog.Op{}, errcode.New(errcode.NamespaceNotFound,
				"shard %s has no collection %s", s.name, req.NS)
		}
		exists := false
		for _, i := range s.cfg.Member.Store().Indexes(req.NS) {
			exists = exists || i.Name == req.Name
		}
		switch {
		case req.Spec != nil && !exists:
			return oplog.Op{Kind: oplog.CreateIndex, ID: req.Name, Doc: req.Spec}, nil
		case req.Spec == nil && exists:
			return oplog.Op{Kind: oplog.DropIndex, ID: req.Name}, nil
		case req.Spec == nil:
			return oplog.Op{}, errcode.New(errcode.IndexNotFound, "index not found with name [%s]",
				req.Name)
		}
		return oplog.Op{Kind: oplog.Noop}, nil
	})
}

func (s *Server) renameUnsharded(
	t env.Task, _ env.NodeID, req *command.RenameUnsharded,
) (*command.Written, error) {
	if catalog.DatabaseOf(req.To) != catalog.DatabaseOf(req.NS) || req.To == req.NS {
		return nil, errcode.New(errcode.BadValue, "collection %s cannot be renamed to %q",
			req.NS, req.To)
	}
	if req.DropTarget {
		drop := &command.DropUnsharded{NS: req.To, Concern: req.Concern, Place: req.Place}
		if _, err := s.dropUnsharded(t, s.node.ID(), drop); err != nil {
			return nil, err
		}
	}
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.alter(t, r, func(w *writeCommand) (oplog.Op, error) {
		switch {
		case s.uuid(req.NS) == "":
			return oplog.Op{}, errcode.New(errcode.NamespaceNotFound,
				"shard %s has no collection %s", s.name, req.NS)
		case s.uuid(req.To) != "":
			return oplog.Op{}, errcode.New(errcode.NamespaceExists,
				"collection %s cannot be renamed: there is a collection %s", req.NS, req.To)
		}
		return oplog.Op{Kind: oplog.Rename, ID: req.To}, nil
	})
}

// alter carries out one operation on a whole unsharded collection, decided from the newest state.
func (s *Server) alter(
	t env.Task, r writeRequest, decide func(w *writeCommand) (oplog.Op, error),
) (*command.Written, error) {
	if !r.place.Database {
		return nil, errcode.New(errcode.IllegalOperation,
			"%s is asked for by a request that takes it for sharded", r.ns)
	}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (docChange, error) {
		op, err := decide(w)
		ch := docChange{op: op, key: key.Min}
		if err == nil && op.Kind != oplog.Noop {
			ch.outcome.N = 1
		}
		return ch, err
	})
}

func (s *Server) listUnsharded(
	_ env.Task, _ env.NodeID, req *command.ListUnsharded,
) (*command.UnshardedList, error) {
	if err := s.cfg.Member.NeedPrimary(); err != nil {
		return nil, err
	}
	data, list := s.cfg.Member.Store(), &command.UnshardedList{}
	for _, ns := range data.Collections(store.Latest) {
		if catalog.DatabaseOf(ns) != req.Database {
			continue
		}
		options, _ := data.Options(ns)
		one := command.ListedCollection{NS: ns, Options: options}
		for _, i := range data.Indexes(ns) {
			one.Indexes = append(one.Indexes, command.IndexSpec{Name: i.Name, Doc: i.Doc})
		}
		list.Collections = append(list.Collections, one)
	}
	return list, nil
}
