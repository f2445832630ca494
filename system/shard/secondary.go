package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// A secondary knows of a placement what its primary knew, no earlier than the documents that belong
// to it and no longer than until the log says that it is about to change. The log says so in three
// ways:
//
//   - the donor's signal, written after it blocked writes and before the commit
//     (SignalSecondaries, and SignalDatabase where nothing of a move is durable);
//   - the end of the recipient's critical section;
//   - the first entry of another primary, which may know of any change that an earlier one began.
//
// A read at or after a cluster time waits for the log up to there first, so it knows of every
// change before it.

// InvalidateTag is the tag of entries by which secondaries forget the placement; other writes of
// the same document are of the copy of the routing table.
const InvalidateTag = "invalidate"

// SignalSecondaries has every secondary forget what it knows of the placement, once the signal
// arrives there; to know it again it asks the primary, which answers after the critical section.
// Nobody waits for the signal: a primary who has not seen it is another one (protocol 4 step 8,
// 17).
func (c *Collection) SignalSecondaries(t env.Task) error {
	doc := c.cacheDoc(store.Latest)
	doc.Entered++
	return c.signal(t, doc)
}

// signalRefreshed informs secondaries that the primary knows of another version, where a recipient
// does not end a critical section by which they would learn of it. It may get lost: they then go on
// with a placement from before the migration, until a request needs the new one.
func (c *Collection) signalRefreshed(t env.Task) {
	if c.server.cfg.Profile.HasRecipientSection() {
		return
	}
	doc, v := c.cacheDoc(store.Latest), c.known.Version().String()
	if doc.Refreshed != v {
		doc.Refreshed = v
		_ = c.signal(t, doc)
	}
}

func (c *Collection) signal(t env.Task, doc cacheDoc) error {
	op := documentOp(oplog.Update, CacheNS, c.ns, doc)
	op.Tag = InvalidateTag
	_, err := c.server.cfg.Member.Write(t, op)
	return err
}

// learnPlacements takes in what an entry of the primary says of placements.
func (s *Server) learnPlacements(e *oplog.Entry) {
	if len(e.Ops) == 0 { // by which a primary begins its term
		s.clearAll()
	}
	for i := range e.Ops {
		switch op := &e.Ops[i]; {
		case op.NS == CacheNS && op.Tag == InvalidateTag:
			s.signalled(op.Doc)
		case op.NS == cacheDatabasesNS:
			s.databaseSignalled(op.Doc)
		}
	}
}

func (s *Server) signalled(raw bson.Raw) {
	var doc cacheDoc
	if s.decode(raw, &doc) {
		s.Collection(doc.NS).Clear()
	}
}

func (s *Server) databaseSignalled(raw bson.Raw) {
	var doc cachedDatabase
	if s.decode(raw, &doc) {
		s.ClearUnsharded(doc.Name)
	}
}

func (s *Server) clearAll() {
	for _, c := range s.Collections() {
		c.Clear()
	}
}

// mayRead reports why the member may not answer a read; nil when it may.
func (s *Server) mayRead(secondary bool) error {
	if secondary && !s.cfg.Member.Leading() {
		return nil
	}
	return s.cfg.Member.NeedPrimary()
}

// fetchViaPrimary has the primary write what it knows to the copy, waits until everything that the
// primary had written by then is committed here, and reads the copy: of a range that has arrived
// this member then shows every document. A primary of the past is not believed. A copy that is
// being replaced just now is asked for again.
func (c *Collection) fetchViaPrimary(t env.Task) (table *catalog.Table, err error) {
	for range refreshTries {
		if err = t.Point(failpoint.RequestSecondaryFresh, env.Note{ID: c.ns}); err != nil {
			return nil, err
		}
		if err = c.awaitCopy(t); err != nil {
			return nil, err
		}
		table, err = c.copy(c.server.cfg.Member.ReadAt(command.MajorityRead))
		if !errcode.Is(err, errcode.Interrupted) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return table, t.Point(failpoint.RequestSecondaryLearn, env.Note{ID: c.ns})
}

func (c *Collection) awaitCopy(t env.Task) error {
	s := c.server
	set := s.Set(s.name)
	if set == nil {
		return errcode.New(errcode.ShardNotFound, "%s does not know the members of its own set",
			s.node.ID())
	}
	flushed, err := rpc.CallPrimary[command.Flushed](t, set,
		&command.FlushRoutingTableCacheUpdates{NS: c.ns}, s.cfg.Settings.CommandTimeout)
	if err != nil {
		return err
	}
	return s.cfg.Member.AwaitEntry(t, flushed.At)
}

// appendOplogNote writes an entry that is as new as the time, unless there is one.
func (s *Server) appendOplogNote(
	t env.Task, _ env.NodeID, req *command.AppendOplogNote,
) (*command.Done, error) {
	if err := s.cfg.Member.NeedPrimary(); err != nil {
		return nil, err
	}
	if s.cfg.Member.AppliedTS() >= req.Time {
		return &command.Done{}, nil
	}
	_, err := s.cfg.Member.Write(t,
		oplog.Op{Kind: oplog.Noop, Actor: uint8(trace.System), Tag: "clusterTime"})
	return &command.Done{}, err
}
