package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// statsForBalancing counts what the shard owns of collections (protocol 14.2). Of another incarnation of one it has nothing.
func (s *Server) statsForBalancing(t env.Task, _ env.NodeID, req *command.ShardsvrGetStatsForBalancing) (*command.StatsForBalancing, error) {
	if err := s.needPrimary(); err != nil {
		return nil, err
	}
	reply := &command.StatsForBalancing{Bytes: make([]int64, len(req.Collections))}
	for i, coll := range req.Collections {
		if s.uuid(coll.NS) != coll.UUID {
			continue
		}
		bytes, err := s.ownedBytes(t, coll.NS)
		if err != nil {
			return nil, err
		}
		reply.Bytes[i] = bytes
	}
	return reply, nil
}

func (s *Server) ownedBytes(t env.Task, ns string) (bytes int64, err error) {
	c := s.Collection(ns)
	if c.Metadata() == nil {
		if err := c.Refresh(t); err != nil {
			return 0, err
		}
	}
	md := c.Metadata()
	if md == nil {
		return 0, nil
	}
	for _, rng := range md.Owned() {
		s.cfg.Member.Store().ScanKey(ns, rng, store.Latest, store.Place{}, func(_ key.Key, _ string, doc bson.Raw) bool {
			bytes += int64(len(doc))
			return true
		})
	}
	return bytes, nil
}
