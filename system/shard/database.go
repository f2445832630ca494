package shard

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// RefuseWrites has user writes to the unsharded collections of the database fail with
// errcode.MovePrimaryInProgress from now on, in this term (protocol 15: since 5.0 writes during the
// clone are refused rather than lost). Writes that have passed their version check but are not yet
// committed find out at their commit.
func (s *Server) RefuseWrites(database, move string) { s.moving[database] = move }

// AcceptWrites undoes RefuseWrites.
func (s *Server) AcceptWrites(database, move string) {
	if s.moving[database] == move {
		delete(s.moving, database)
	}
}

// refused refuses writes to unsharded collections while their database is copied to another primary
// shard. Later its critical section holds them up.
func (c *Collection) refused(place command.Placement, write bool) error {
	if !write || !place.Database {
		return nil
	}
	move := c.server.moving[catalog.DatabaseOf(c.ns)]
	if move == "" {
		return nil
	}
	return errcode.New(errcode.MovePrimaryInProgress, "%s moves to another primary shard: %s", c.ns,
		move)
}

// ClearUnsharded forgets where the unsharded collections of a database are, those included that are
// no more: by what is known of a dropped one it could be made again here.
func (s *Server) ClearUnsharded(database string) {
	for _, c := range s.Collections() {
		if catalog.DatabaseOf(c.ns) == database &&
			(c.known == nil || c.known.Table.Collection().Unsharded) {
			c.Clear()
		}
	}
}

// cacheDatabasesNS holds for each database how often this shard has begun to give it away
// (config.cache.databases).
const cacheDatabasesNS = "config.cache.databases"

type cachedDatabase struct {
	Name    string `bson:"_id"`
	Entered int64  `bson:"enterCriticalSectionCounter"`
}

// SignalDatabase has every secondary forget where the unsharded collections of the database are,
// those to come included, as SignalSecondaries does for one collection.
func (s *Server) SignalDatabase(t env.Task, database string) error {
	doc := cachedDatabase{Name: database}
	id := string(key.String(database))
	if raw := s.cfg.Member.Store().Get(cacheDatabasesNS, id, store.Latest); raw != nil {
		s.decode(raw, &doc)
	}
	doc.Entered++
	_, err := s.cfg.Member.Write(t, documentOp(oplog.Update, cacheDatabasesNS, database, doc))
	return err
}

// Drop removes the collection, on behalf of why, if it still has these options. With another UUID
// it was made since; with a shard key it has been sharded since, and what is here came by a
// migration. Both are none of the caller's business (H-74b). The caller has made sure that no
// running query needs it, and waits for the majority.
func (s *Server) Drop(t env.Task, ns string, options bson.Raw, why string) error {
	own, exists := s.cfg.Member.Store().Options(ns)
	if !exists || !bytes.Equal(own, options) {
		return nil
	}
	_, err := s.cfg.Member.Write(t, oplog.Op{
		Kind:        oplog.Drop,
		NS:          ns,
		Actor:       uint8(trace.RangeDeleter),
		Tag:         why,
		FromMigrate: true,
	})
	return err
}

// CopiesNS holds a document for each unsharded collection that a shard has all of by a copy, from
// another one that was the primary of its database before, and one for the database with the move
// by which it has come.
const CopiesNS = "config.copiedCollections"

// BeginsCopy and EndsCopy are the operations that go with the first and behind the last entry of a
// copy: a snapshot from in between has a part of the collection (H-74f).
func BeginsCopy(ns string) oplog.Op {
	return oplog.Op{Kind: oplog.Delete, NS: CopiesNS, ID: string(key.String(ns))}
}

// EndsCopy is described at BeginsCopy.
func EndsCopy(ns string) oplog.Op {
	return documentOp(oplog.Insert, CopiesNS, ns, bson.D{{Key: "_id", Value: ns}})
}

// Arrives is the operation that goes with the first entry of a move of a database, be there
// collections or not. What the shard has of them from before may be what an earlier move has left
// behind, which others have changed since.
func Arrives(database, move string) oplog.Op {
	return documentOp(oplog.Update, CopiesNS, database,
		bson.D{{Key: "_id", Value: database}, {Key: "move", Value: move}})
}

// copiedLater reports whether a collection came by a copy that had not ended at an index, or its
// database came with a move that had not begun then.
func (s *Server) copiedLater(ns string, index uint64) bool {
	at := func(id string, index uint64) bson.Raw {
		return s.cfg.Member.Store().Get(CopiesNS, string(key.String(id)), index)
	}
	database := catalog.DatabaseOf(ns)
	return at(ns, store.Latest) != nil && at(ns, index) == nil ||
		!bytes.Equal(at(database, store.Latest), at(database, index))
}

// announceDrop reports that every document of a collection is gone.
func (s *Server) announceDrop(index uint64, op *oplog.Op) {
	data := s.cfg.Member.Store()
	if index <= data.Oldest() {
		return
	}
	data.ScanKey(op.NS, key.Everything, index-1, store.Place{},
		func(k key.Key, id string, _ bson.Raw) bool {
			s.node.Emit(s.applied(index, op, op.NS, k, id, nil))
			return true
		})
}

// announceRename reports that every document of a collection is gone there and is here.
func (s *Server) announceRename(index uint64, op *oplog.Op) {
	s.cfg.Member.Store().ScanKey(op.ID, key.Everything, index, store.Place{},
		func(k key.Key, id string, doc bson.Raw) bool {
			s.node.Emit(s.applied(index, op, op.NS, k, id, nil))
			s.node.Emit(s.applied(index, op, op.ID, k, id, doc))
			return true
		})
}

// announceShard reports that every document of a collection is under another key, if it is.
func (s *Server) announceShard(index uint64, op *oplog.Op) {
	data := s.cfg.Member.Store()
	if index <= data.Oldest() {
		return
	}
	old, _ := data.Pattern(op.NS, index-1)
	if now, _ := data.Pattern(op.NS, index); now.SameOrder(old) {
		return
	}
	s.announceDrop(index, op)
	data.ScanKey(op.NS, key.Everything, index, store.Place{},
		func(k key.Key, id string, doc bson.Raw) bool {
			s.node.Emit(s.applied(index, op, op.NS, k, id, doc))
			return true
		})
}

func (s *Server) applied(
	index uint64, op *oplog.Op, ns string, k key.Key, id string, doc bson.Raw,
) *trace.Event {
	return trace.AppliedEvent{
		Shard: s.name,
		Term:  s.cfg.Member.Term(),
		Index: index,
		NS:    ns,
		Key:   string(k),
		DocID: id,
		Hash:  fingerprint(doc),
		Actor: trace.Actor(op.Actor),
		For:   op.Tag,
	}.Event()
}
