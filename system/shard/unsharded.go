package shard

import (
	"bytes"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/store"
)

// Operations on unsharded collections are writes of the primary shard: let in by the version of the
// database, refused while its primary moves, one entry of the log each.

func (s *Server) createUnsharded(
	t env.Task, _ env.NodeID, req *command.CreateUnsharded,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, false}
	return s.alter(t, r, func(w *writeCommand) (docChange, error) {
		if s.uuid(req.NS) == "" {
			return docChange{op: oplog.Op{
				Kind: oplog.Create, Doc: s.newUnsharded(req.NS, req.Options),
			}}, nil
		}
		if req.Exclusive {
			return docChange{}, errcode.New(errcode.NamespaceExists,
				"collection %s exists", req.NS)
		}
		return docChange{op: oplog.Op{Kind: oplog.Noop}}, nil
	})
}

// newUnsharded is how a new collection is described, with the options that a client has chosen, if
// any. Its identity holds the time, which makes it unique.
func (s *Server) newUnsharded(ns string, chosen bson.Raw) bson.Raw {
	uuid := fmt.Sprintf("uuid-%s-%s", ns, s.Clock().Tick())
	options := store.EncodeOptions(uuid, catalog.Unsharded)
	if len(chosen) == 0 {
		return options
	}
	return store.WithOptions(options, chosen)
}

func (s *Server) dropUnsharded(
	t env.Task, _ env.NodeID, req *command.DropUnsharded,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, false}
	return s.alter(t, r, func(w *writeCommand) (docChange, error) {
		if s.uuid(req.NS) == "" {
			return docChange{op: oplog.Op{Kind: oplog.Noop}}, nil
		}
		return docChange{op: oplog.Op{Kind: oplog.Drop}}, nil
	})
}

func (s *Server) indexUnsharded(
	t env.Task, _ env.NodeID, req *command.IndexUnsharded,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, req.Implicit && req.Spec != nil}
	return s.alter(t, r, func(w *writeCommand) (docChange, error) {
		if s.uuid(req.NS) == "" && !w.mayFound() {
			return docChange{}, errcode.New(errcode.NamespaceNotFound,
				"shard %s has no collection %s", s.name, req.NS)
		}
		exists := false
		for _, i := range s.cfg.Member.Store().Indexes(req.NS) {
			if i.Name != req.Name {
				continue
			}
			exists = true
			if has, wants := i.Doc.Lookup("key"), req.Spec.Lookup("key"); req.Spec != nil &&
				query.Compare(has, wants) != 0 {
				return docChange{}, errcode.New(errcode.IndexKeySpecsConflict,
					"index %s of %s is on %v, not on %v: drop it first",
					req.Name, req.NS, has, wants)
			}
		}
		switch {
		case req.Spec != nil && !exists:
			return docChange{
				op: oplog.Op{Kind: oplog.CreateIndex, ID: req.Name, Doc: req.Spec},
			}, nil
		case req.Spec == nil && exists:
			return docChange{op: oplog.Op{Kind: oplog.DropIndex, ID: req.Name}}, nil
		case req.Spec == nil:
			return docChange{}, errcode.New(errcode.IndexNotFound, "index not found with name [%s]",
				req.Name)
		}
		return docChange{op: oplog.Op{Kind: oplog.Noop}}, nil
	})
}

// renameUnsharded drops the collection that had the name and gives it to the other in one entry: no
// failure, and no copy of the request, comes between the two. With it goes the old name, by which
// the statements on record are known that move with the collection later (protocol 7).
func (s *Server) renameUnsharded(
	t env.Task, _ env.NodeID, req *command.RenameUnsharded,
) (*command.Written, error) {
	if catalog.DatabaseOf(req.To) != catalog.DatabaseOf(req.NS) || req.To == req.NS {
		return nil, errcode.New(errcode.BadValue, "collection %s cannot be renamed to %q",
			req.NS, req.To)
	}
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, false}
	if err := s.mayBecome(req, s.Collection(req.To).admit(t, req.Place, true)); err != nil {
		return (&writeCommand{writeRequest: r, server: s, lead: lead}).finish(t, err)
	}
	return s.alter(t, r, func(w *writeCommand) (docChange, error) {
		if err := s.mayBecome(req, s.Collection(req.To).Check(req.Place, true)); err != nil {
			return docChange{}, err
		}
		if err := s.unchanged(req); err != nil {
			return docChange{}, err
		}
		ch := docChange{op: oplog.Op{Kind: oplog.Rename, ID: req.To}}
		switch {
		case s.uuid(req.NS) == "":
			return ch, errcode.New(errcode.NamespaceNotFound,
				"shard %s has no collection %s", s.name, req.NS)
		case s.uuid(req.To) != "" && !req.DropTarget:
			return ch, errcode.New(errcode.NamespaceExists,
				"collection %s cannot be renamed: there is a collection %s", req.NS, req.To)
		case s.uuid(req.To) != "":
			ch.room = []oplog.Op{{Kind: oplog.Drop, NS: req.To, Actor: uint8(trace.User)}}
		}
		names := s.Formerly(req.NS)
		if !req.Unchanged { // what was made to replace another had a name that no statement knows
			names = append(slices.Clip(names), req.NS)
		}
		ch.room = append(ch.room, s.KeepNames(req.To, names, false)...)
		return ch, nil
	})
}

// unchanged fails if a collection was changed, made or dropped since it was copied for a rename to
// its name: what was acknowledged then would go with it.
func (s *Server) unchanged(req *command.RenameUnsharded) error {
	options, _ := s.cfg.Member.Store().Options(req.To)
	same := bytes.Equal(store.ChosenOptions(options), req.Options) &&
		slices.EqualFunc(s.Indexes(req.To), req.Indexes, func(a, b command.IndexSpec) bool {
			return a.Name == b.Name && bytes.Equal(a.Doc, b.Doc)
		})
	if !req.Unchanged || same {
		return nil
	}
	return errcode.New(errcode.OperationFailed,
		"options or indexes of collection %s were changed while it was being replaced", req.To)
}

// mayBecome explains why a request for a name was not let in: what is sharded does not give way to
// what is not. That it is sharded still, only a primary knows that leads still.
func (s *Server) mayBecome(req *command.RenameUnsharded, refused error) error {
	if to := s.Collection(req.To); refused != nil && to.known != nil && !to.unsharded() {
		return errcode.New(errcode.IllegalOperation,
			"collection %s cannot be renamed: %s is sharded", req.NS, req.To)
	}
	return refused
}

// alter carries out one operation on a whole unsharded collection, decided from the newest state.
func (s *Server) alter(
	t env.Task, r writeRequest, decide func(w *writeCommand) (docChange, error),
) (*command.Written, error) {
	if !r.place.Database {
		return nil, errcode.New(errcode.IllegalOperation,
			"%s is asked for by a request that takes it for sharded", r.ns)
	}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (docChange, error) {
		ch, err := decide(w)
		ch.key = key.Min
		if err == nil && ch.op.Kind != oplog.Noop {
			ch.outcome.N = 1
		}
		return ch, err
	})
}

// listUnsharded waits for proof of the leadership: what is not listed is taken for what there is
// not, and a database is dropped by the list.
func (s *Server) listUnsharded(
	t env.Task, _ env.NodeID, req *command.ListUnsharded,
) (*command.UnshardedList, error) {
	lead, err := s.cfg.Member.Lead()
	if err != nil {
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
	return list, lead.AwaitMajority(t)
}
