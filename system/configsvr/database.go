package configsvr

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// NewDatabase is a database on its first primary shard, made at a time that makes its identity
// unique.
func NewDatabase(name, primary string, at hlc.Timestamp) catalog.Database {
	version := catalog.DatabaseVersion{
		UUID:      fmt.Sprintf("uuid-%s-%s", name, at),
		Timestamp: at,
		LastMod:   1,
	}
	return catalog.Database{Name: name, Primary: primary, Version: version}
}

// PutDatabase returns the operation that writes a database's document.
func PutDatabase(d catalog.Database, why string) (oplog.Op, error) {
	doc, err := catalog.EncodeDatabase(d)
	return putOp(Databases, d.Name, doc, why), err
}

// ReadDatabase reads a database from the documents of a member at an index:
// errcode.NamespaceNotFound when there is none.
func ReadDatabase(data *store.Store, name string, at uint64) (catalog.Database, error) {
	doc := data.Get(Databases, string(key.String(name)), at)
	if doc == nil {
		return catalog.Database{}, errcode.New(errcode.NamespaceNotFound,
			"there is no database %s", name)
	}
	return catalog.DecodeDatabase(doc)
}

func readUnsharded(data *store.Store, ns string, at uint64) (*catalog.Table, error) {
	d, err := ReadDatabase(data, catalog.DatabaseOf(ns), at)
	if err != nil {
		return nil, errcode.New(errcode.NamespaceNotFound, "there is no collection %s: %v", ns, err)
	}
	return d.Table(ns)
}

// getDatabase is served by every member, as getRoutingTable is.
func (s *Server) getDatabase(
	t env.Task, _ env.NodeID, req *command.GetDatabase,
) (*command.DatabaseReply, error) {
	if err := t.Yield(failpoint.ConfigRoutingTable); err != nil {
		return nil, err
	}
	if err := s.reaches(t, req.After, req.Newest); err != nil {
		return nil, err
	}
	data, at := s.member.Store(), s.member.ReadAt(command.MajorityRead)
	d, err := ReadDatabase(data, req.Name, at)
	if err != nil {
		return nil, err
	}
	reply := &command.DatabaseReply{Database: d}
	data.Scan(Collections, at, func(_ string, doc bson.Raw) bool {
		if ns, ok := doc.Lookup("_id").StringValueOK(); ok && catalog.DatabaseOf(ns) == req.Name {
			reply.Sharded = append(reply.Sharded, ns)
		}
		return true
	})
	return reply, nil
}

// commitMovePrimary gives a database to another primary shard (protocol 15). The expected version
// fences a primary that prepared it before another move; 4.2 does not look at it.
func (s *Server) commitMovePrimary(
	t env.Task, _ env.NodeID, req *command.CommitMovePrimary,
) (*command.Done, error) {
	err := s.InTerm(t, "commit "+req.Move, func(own env.Task) error {
		if err := s.Locked(own, func() error { return s.movePrimary(own, req) }); err != nil {
			return err
		}
		return s.Majority(own)
	})
	if err != nil {
		return nil, err
	}
	return &command.Done{}, t.Point(failpoint.MovePrimaryCommitReply, env.Note{ID: req.Move})
}

func (s *Server) movePrimary(t env.Task, req *command.CommitMovePrimary) error {
	if err := t.Point(
		failpoint.MovePrimaryCommitRequest, env.Note{Peer: req.To, ID: req.Move},
	); err != nil {
		return err
	}
	d, err := ReadDatabase(s.member.Store(), req.Database, store.Latest)
	if err != nil {
		return err
	}
	switch fenced := s.profile.CoordinatesMovePrimary(); {
	case fenced && d.Version != req.Expected:
		return errcode.New(errcode.StaleDbVersion, "database %s is at version %v, not %v",
			d.Name, d.Version, req.Expected)
	case !fenced && d.Primary == req.To: // sent again
		return nil
	}
	if err := s.mayHaveDatabase(req.To, d.Primary); err != nil {
		return err
	}
	op, err := PutDatabase(d.On(req.To), trace.PrimaryMoved.Of(req.Move))
	if err != nil {
		return err
	}
	_, err = s.member.Write(t, op)
	return err
}

// mayHaveDatabase checks that a shard exists and, since 5.0, that it does not drain. The present
// primary may go on being it, under a new version: that is how a move is given up.
func (s *Server) mayHaveDatabase(shard, present string) error {
	switch _, err := s.catalog.shard(shard); {
	case err != nil || shard == present || !s.profile.CoordinatesMovePrimary():
		return err
	}
	return s.mayReceive(shard)
}

// orderMovePrimary is how 4.2 moves a primary: the config server has the primary shard do it, and
// holds the lock of the database meanwhile. Its successor releases the lock, and leaves the shard
// alone with what it does.
func (s *Server) orderMovePrimary(
	t env.Task, _ env.NodeID, req *command.MovePrimary,
) (*command.Done, error) {
	err := s.InTerm(t, "movePrimary "+req.Database, func(own env.Task) error {
		locks := s.manager.locks // of the term, which may end together with the wait
		lock, err := locks.acquire(own, req.Database,
			"movePrimary of "+req.Database+" to "+req.To, lockPatience)
		if err != nil {
			return err
		}
		defer locks.release(own, lock)
		d, err := ReadDatabase(s.member.Store(), req.Database, store.Latest)
		if err == nil {
			err = s.mayReceive(req.To)
		}
		if err != nil {
			return s.Settled(own, err)
		}
		order := &command.ShardsvrMovePrimary{Database: req.Database, To: req.To}
		_, err = rpc.CallPrimary[command.Done](own, s.shards[d.Primary], order, s.settings.MoveWait)
		return err
	})
	return &command.Done{}, err
}

// announceDatabases reports to the oracles where an entry put databases: as one chunk of all keys
// under the database's name.
func (s *Server) announceDatabases(index uint64, e *oplog.Entry) {
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.NS != Databases {
			continue
		}
		d, err := catalog.DecodeDatabase(op.Doc)
		s.node.Assert(err == nil, "database %v written for %q cannot be read back: %v",
			op.Doc, op.Tag, err)
		all := trace.Chunk{
			Min:   string(key.Min),
			Max:   string(key.Max),
			Shard: d.Primary,
			Major: d.Version.LastMod,
			Epoch: d.Version.UUID,
		}
		s.node.Emit(trace.CatalogWrittenEvent{
			Shard:  Name,
			Term:   s.member.Term(),
			Index:  index,
			NS:     d.Name,
			Why:    op.Tag,
			Chunks: []trace.Chunk{all},
		}.Event())
	}
}
