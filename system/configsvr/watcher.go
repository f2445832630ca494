package configsvr

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// logWatcher keeps the server in step with the member's log.
type logWatcher struct{ s *Server }

func (w logWatcher) Applied(index uint64, e *oplog.Entry, leading bool) {
	w.s.catalog.note(index, e)
	if leading {
		w.s.announce(index, e)
		w.s.announceDatabases(index, e)
		w.s.announceChanges(index, e)
		w.s.announceEntries(index, e)
	}
}

func (w logWatcher) RolledBack(to uint64) { w.s.catalog.rolledBack(to) }

func (w logWatcher) Reset(index uint64) {
	w.s.catalog.forget(index)
	w.s.gossip()
}

func (w logWatcher) Committed(uint64) { w.s.gossip() }

func (w logWatcher) StepUp(t env.Task) error {
	w.s.chunkOps = &chunkOps{}
	if w.s.profile.LocksCollections() {
		w.s.manager = newManager(w.s)
		if err := w.s.manager.takeOver(t); err != nil {
			return err
		}
	}
	for _, op := range w.s.ddl.records.All() {
		w.s.coordinate(w.s.member.TermScope(), op)
	}
	w.s.node.Spawn(w.s.member.TermScope(), "sessions", w.s.keepSessions)
	return nil
}

func (w logWatcher) StepDown() { w.s.chunkOps, w.s.manager = nil, nil }

// gossip lets everybody who learns of this node know which state of the catalog is
// majority-committed.
func (s *Server) gossip() { s.ep.Clock().Advance(hlc.Vector{Config: s.member.CommittedTS()}) }

// announce reports to the oracles which chunks an entry wrote, of each collection by itself, and
// which collections it removed.
func (s *Server) announce(index uint64, e *oplog.Entry) {
	var written []trace.CatalogWrittenEvent
	var coll catalog.Collection
	for i := range e.Ops {
		op := &e.Ops[i]
		switch {
		case op.NS == Chunks && op.Doc != nil:
			coll = s.collectionOf(op.Doc, coll)
			written = s.addChunk(written, coll, op)
		case op.NS == Collections && op.Doc == nil:
			written = append(written, trace.CatalogWrittenEvent{
				NS: nameOf(op.ID), Why: trace.Dropped.String(),
			})
		}
	}
	for _, w := range written {
		w.Shard, w.Term, w.Index = Name, s.member.Term(), index
		w.ClusterTime = int64(e.TS)
		s.node.Emit(w.Event())
	}
}

// addChunk adds a chunk to the event of its collection.
func (s *Server) addChunk(
	written []trace.CatalogWrittenEvent, coll catalog.Collection, op *oplog.Op,
) []trace.CatalogWrittenEvent {
	c, err := catalog.DecodeChunk(coll, op.Doc)
	s.node.Assert(err == nil, "chunk %v written for %q cannot be read back: %v",
		op.Doc, op.Tag, err)
	i := slices.IndexFunc(written, func(w trace.CatalogWrittenEvent) bool {
		return w.NS == coll.NS && w.Why != trace.Dropped.String()
	})
	if i < 0 {
		i, written = len(written),
			append(written, trace.CatalogWrittenEvent{NS: coll.NS, Why: op.Tag})
	}
	written[i].Chunks = append(written[i].Chunks, toTraceChunk(c))
	return written
}

// nameOf is the namespace whose document in the catalog has this encoded _id.
func nameOf(id string) string {
	name, err := key.Decode(key.Key(id))
	if err != nil {
		panic(fmt.Sprintf("%x is the _id of no collection: %v", id, err))
	}
	return name.StringValue()
}

// collectionOf finds the collection that a chunk document belongs to, which often is that of the
// chunk before.
func (s *Server) collectionOf(chunk bson.Raw, before catalog.Collection) catalog.Collection {
	var coll catalog.Collection
	uuid, _ := chunk.Lookup("uuid").StringValueOK()
	if before.UUID != "" && uuid == before.UUID {
		return before
	}
	s.member.Store().Scan(Collections, store.Latest, func(_ string, doc bson.Raw) bool {
		c, err := s.collections.Read(doc, catalog.DecodeCollection)
		s.node.Assert(err == nil, "collection %v cannot be read: %v", doc, err)
		if c.UUID == uuid {
			coll = c
		}
		return c.UUID != uuid
	})
	s.node.Assert(coll.UUID == uuid, "chunk %v belongs to no collection", chunk)
	return coll
}

func toTraceChunk(c catalog.Chunk) trace.Chunk {
	e := trace.Chunk{
		Min: string(c.Min), Max: string(c.Max), Shard: c.Shard,
		Major: c.Version.Major, Minor: c.Version.Minor, Epoch: c.Version.Epoch,
		Since: uint64(c.OnCurrentShardSince), Jumbo: c.Jumbo,
	}
	for _, p := range c.History {
		e.History = append(e.History,
			trace.Placement{ValidAfter: uint64(p.ValidAfter), Shard: p.Shard})
	}
	return e
}
