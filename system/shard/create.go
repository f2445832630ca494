package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/status"
)

// CollectionOptions are what a shard's copy of a collection is made with; every shard's must be the same.
func CollectionOptions(uuid string, p key.Pattern) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "uuid", Value: uuid}, {Key: "key", Value: bson.D{
		{Key: "field", Value: p.Field}, {Key: "hashed", Value: p.Hashed},
	}}})
	if err != nil {
		panic(status.New(status.Internal, "collection %s with key %v has no options: %v", uuid, p, err))
	}
	return raw
}

// createCollection makes the collection, unless it is there: with another UUID that is a status.BadValue.
func (s *Server) createCollection(t env.Task, _ env.NodeID, req *command.CreateCollection) (*command.Done, error) {
	if err := s.needPrimary(); err != nil {
		return nil, err
	}
	if options, exists := s.cfg.Member.Store().Options(req.NS); exists {
		if uuid, _ := options.Lookup("uuid").StringValueOK(); uuid != req.UUID {
			return nil, status.New(status.BadValue, "%s has %s as %q, not %q", s.name, req.NS, uuid, req.UUID)
		}
	} else if err := s.create(t, req); err != nil {
		return nil, err
	}
	if err := s.AwaitMajority(t); err != nil {
		return nil, err
	}
	return &command.Done{}, nil
}

func (s *Server) create(t env.Task, req *command.CreateCollection) error {
	op := oplog.Op{Kind: oplog.Create, NS: req.NS, Doc: CollectionOptions(req.UUID, req.Key), Actor: uint8(event.System)}
	_, err := s.cfg.Member.Write(t, op)
	return err
}
