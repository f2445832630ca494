package moveprimary

import (
	"cmp"
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// copyTask is a copy that was begun in this term. It is kept until the next one of the database has
// begun, for a sender that has not received the answer.
type copyTask struct {
	lsid  string
	move  string
	over  bool
	err   error
	ended env.Cond
}

// assertNoCollections: the shard has nothing of what is to come, and nothing left to drop of it
// (H-74b).
func (s *Service) assertNoCollections(
	t env.Task, _ env.NodeID, req *command.AssertNoCollections,
) (*command.Done, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	for _, r := range s.records.All() {
		if r.Database == req.Database {
			return nil, errcode.New(errcode.ConflictingOperationInProgress,
				"%s has not finished moving %s to %s", s.shard.Name(), r.Database, r.To)
		}
	}
	for _, ns := range req.Namespaces {
		if err := s.absent(ns); err != nil {
			return nil, err
		}
	}
	return &command.Done{}, s.member.AwaitMajority(t)
}

func (s *Service) absent(ns string) error {
	if _, exists := s.member.Store().Options(ns); exists {
		return errcode.New(errcode.IncompatibleShardingMetadata, "%s has a collection %s already",
			s.shard.Name(), ns)
	}
	return nil
}

// cloneCatalogData begins a copy, or joins it, and waits for its end. A copy that another primary
// has begun cannot be gone on with: how far it has come nobody knows.
func (s *Service) cloneCatalogData(
	t env.Task, _ env.NodeID, req *command.CloneCatalogData,
) (*command.ClonedCatalogData, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if err := s.shard.LearnAdmission(t); err != nil {
		return nil, err
	}
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	name := req.Lsid + " " + req.Move
	c := s.clones[name]
	if c == nil {
		if txn := s.shard.SessionTxn(req.Lsid); s.fences() && txn >= req.Txn {
			return nil, errcode.New(errcode.StaleSession,
				"the copy of %s was begun by another primary, or given up", req.Move)
		}
		if err := s.shard.Outside(); err != nil {
			return nil, err
		}
		c = &copyTask{lsid: req.Lsid, move: req.Move}
		s.clones[name] = c
		s.node.Spawn(s.member.TermScope(), "clone "+req.Move, func(own env.Task) {
			c.err = s.copyAll(own, req)
			c.over = true
			c.ended.Broadcast()
		})
	}
	if err := c.ended.WaitFor(t, 0, func() bool { return c.over }); err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, c.err
	}
	reply := &command.ClonedCatalogData{}
	for _, coll := range req.Collections {
		reply.Namespaces = append(reply.Namespaces, coll.NS)
	}
	return reply, nil
}

func (s *Service) copyAll(t env.Task, req *command.CloneCatalogData) error {
	if err := s.asked(t, req); err != nil {
		return err
	}
	s.forgetClones(req)
	if s.fences() {
		if err := s.shard.AdvanceSession(t, req.Lsid, req.Txn); err != nil {
			return err
		}
	}
	arrival := []oplog.Op{ // in the first entry of all
		changestream.Arrival(req.Database), shard.Arrives(req.Database, req.Move),
	}
	for _, coll := range req.Collections {
		if err := t.Point(
			failpoint.MovePrimaryClone, env.Note{Peer: req.From, ID: req.Move},
		); err != nil {
			return err
		}
		if err := s.absent(coll.NS); err != nil {
			return err
		}
		if err := s.write(t, req, append(arrival, s.begins(&coll)...)...); err != nil {
			return err
		}
		arrival = nil
		if err := s.copyDocuments(t, req, coll.NS); err != nil {
			return err
		}
		if err := s.write(t, req, shard.EndsCopy(coll.NS)); err != nil {
			return err
		}
	}
	if arrival != nil {
		if err := s.write(t, req, arrival...); err != nil {
			return err
		}
	}
	return s.member.AwaitMajority(t)
}

// asked fails unless the move still goes on: a copy that was asked for long ago leaves nothing
// behind. A move may have ended without a word to this shard, when it was none. A copy of nothing
// only notes the arrival of the database, which matters where nothing fences it.
func (s *Service) asked(t env.Task, req *command.CloneCatalogData) error {
	ns := req.Database
	if len(req.Collections) > 0 {
		ns = req.Collections[0].NS
	} else if s.fences() {
		return nil
	}
	_, err := askPrimary[command.Page](t, s, req.From, &command.ClonePage{Move: req.Move, NS: ns})
	return err
}

// forgetClones forgets the copies of earlier moves, whose answers nobody waits for any more. What
// only arrives late must not have the present one forgotten: it would begin a second time.
func (s *Service) forgetClones(req *command.CloneCatalogData) {
	maps.DeleteFunc(s.clones, func(_ string, c *copyTask) bool {
		return c.lsid == req.Lsid && c.move != req.Move && c.over
	})
}

// begins makes a collection as it is where it comes from, without its documents.
func (s *Service) begins(coll *command.UnshardedCollection) []oplog.Op {
	ops := []oplog.Op{{Kind: oplog.Create, NS: coll.NS, Doc: coll.Options}}
	for _, i := range coll.Indexes {
		ops = append(ops, oplog.Op{Kind: oplog.CreateIndex, NS: coll.NS, ID: i.Name, Doc: i.Doc})
	}
	ops = append(ops, s.shard.KeepNames(coll.NS, coll.Formerly, false)...)
	return append(ops, shard.BeginsCopy(coll.NS))
}

// fences: copies belong to a session of the shard that asks for them, so that its next primary can
// end them.
func (s *Service) fences() bool { return s.shard.Profile().CoordinatesMovePrimary() }

// write is one entry of the copy, unless the copy was fenced.
func (s *Service) write(t env.Task, req *command.CloneCatalogData, ops ...oplog.Op) error {
	if err := s.live(req.Move, req.Lsid, req.Txn); err != nil {
		return err
	}
	for i := range ops {
		ops[i].Actor, ops[i].Tag, ops[i].FromMigrate = uint8(trace.Recipient), req.Move, true
	}
	_, err := s.member.Write(t, ops...)
	return err
}

func (s *Service) copyDocuments(t env.Task, req *command.CloneCatalogData, ns string) error {
	for after, n := "", 0; ; n++ {
		if err := t.Point(
			failpoint.MovePrimaryCloneBatch, env.Note{Peer: req.From, ID: req.Move, N: n},
		); err != nil {
			return err
		}
		page, err := askPrimary[command.Page](t, s, req.From,
			&command.ClonePage{Move: req.Move, NS: ns, After: after})
		if err != nil || len(page.Docs) == 0 {
			return err
		}
		ops := make([]oplog.Op, len(page.Docs))
		for i, doc := range page.Docs {
			if after, err = key.ID(doc); err != nil {
				return err
			}
			ops[i] = oplog.Op{Kind: oplog.Insert, NS: ns, ID: after, Doc: doc}
		}
		if err := s.write(t, req, ops...); err != nil {
			return err
		}
	}
}

// page reads the next documents of a collection that moves away.
func (m *primaryMove) page(req *command.ClonePage) *command.Page {
	page, bytes := &command.Page{}, 0
	docs, most := m.s.settings.CloneBatchDocs, m.s.settings.CloneBatchBytes
	after := store.Place{Key: key.Key(req.After), ID: req.After}
	m.s.member.Store().ScanKey(req.NS, key.Everything, store.Latest, after,
		func(_ key.Key, _ string, doc bson.Raw) bool {
			page.Docs = append(page.Docs, doc)
			bytes += len(doc)
			return (docs == 0 || len(page.Docs) < docs) && bytes < most
		})
	return page
}

// live fails when a copy was fenced: nothing of it may be written any more.
func (s *Service) live(move, lsid string, own int64) error {
	if txn := s.shard.SessionTxn(lsid); s.fences() && txn != own {
		return errcode.New(errcode.StaleSession,
			"the copy of %s with transaction %d was fenced by %d", move, own, txn)
	}
	return nil
}

// importSessions records statements that the old primary has executed. What arrives twice or late
// changes nothing.
func (s *Service) importSessions(
	t env.Task, _ env.NodeID, req *command.ImportSessions,
) (*command.Done, error) {
	lead, err := s.member.Lead()
	if err != nil {
		return nil, err
	}
	// Another primary may have led meanwhile, and have gone on with a session.
	live := func() error { return cmp.Or(lead.Err(), s.live(req.Move, req.Lsid, req.Txn)) }
	for _, st := range req.Stmts {
		if _, err := s.shard.Import(t, st, req.Move, live); err != nil {
			return nil, err
		}
	}
	return &command.Done{}, lead.AwaitMajority(t)
}

// dropClonedData ends a copy for good. A message of a move that is long over must not drop what a
// later one has brought.
func (s *Service) dropClonedData(
	t env.Task, _ env.NodeID, req *command.DropClonedData,
) (*command.Done, error) {
	lead, err := s.member.Lead()
	if err != nil {
		return nil, err
	}
	if err := s.shard.AdvanceSession(t, req.Lsid, req.Txn+1); err != nil {
		return nil, err
	}
	for _, coll := range req.Collections {
		if txn := s.shard.SessionTxn(req.Lsid); txn != req.Txn+1 {
			return nil, errcode.New(errcode.StaleSession, "transaction %d of %s was followed by %d",
				req.Txn, req.Lsid, txn)
		}
		if err := s.shard.Drop(t, coll.NS, coll.Options, req.Lsid); err != nil {
			return nil, err
		}
	}
	return &command.Done{}, lead.AwaitMajority(t)
}
