package configsvr

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/clock"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/status"
)

// NewCollection is the collection of a request, made at a time that makes its identity unique.
func NewCollection(req *command.ShardCollection, at clock.Timestamp) catalog.Collection {
	return catalog.Collection{
		NS: req.NS, UUID: fmt.Sprintf("uuid-%s-%s", req.NS, at), Epoch: fmt.Sprintf("epoch-%s", at), Timestamp: at,
		Key: req.Key, AllowMigrations: true,
	}
}

// Founding returns the operations that put a new collection with its first chunks into the catalogue.
func Founding(coll catalog.Collection, bounds []key.Key, shards []string) ([]oplog.Op, error) {
	chunks, err := catalog.First(coll, bounds, shards)
	if err != nil {
		return nil, err
	}
	doc, err := catalog.EncodeCollection(coll)
	if err != nil {
		return nil, err
	}
	const why = "shardCollection"
	ops, err := chunkOpsOf(coll, chunks, why)
	return append([]oplog.Op{write(Collections, coll.NS, doc, why)}, ops...), err
}

// AddShard returns the operation that makes a shard known.
func AddShard(name, host string) (oplog.Op, error) {
	doc, err := bson.Marshal(shardDoc{ID: name, Host: host})
	return write(Shards, name, doc, "addShard"), err
}

// shardCollection makes the collection on its shards first and in the catalogue last: a shard that receives a versioned
// request has the collection. It succeeds when the collection exists with the same shard key.
func (s *Server) shardCollection(t env.Task, _ env.NodeID, req *command.ShardCollection) (*command.Done, error) {
	err := s.tenured(t, "shardCollection "+req.NS, func(own env.Task) error {
		if err := s.locked(own, func() error { return s.found(own, req) }); err != nil {
			return err
		}
		return s.majority(own)
	})
	return &command.Done{}, err
}

func (s *Server) found(t env.Task, req *command.ShardCollection) error {
	if table, err := s.book.latest(req.NS); err == nil {
		if table.Collection().Key != req.Key {
			return status.New(status.BadValue, "collection %s is sharded by %v already", req.NS, table.Collection().Key)
		}
		return nil
	}
	coll := NewCollection(req, s.ep.Clock().Tick())
	ops, err := Founding(coll, req.Bounds, req.Shards)
	if err != nil {
		return err
	}
	for _, name := range req.Shards {
		if err := s.mayReceive(name); err != nil {
			return err
		}
		create := &command.CreateCollection{NS: coll.NS, UUID: coll.UUID, Key: coll.Key}
		if _, err := rpc.CallPrimary[command.Done](t, s.shards[name], create, s.settings.CommandTimeout); err != nil {
			return err
		}
	}
	_, err = s.member.Write(t, ops...)
	return err
}
