// Package admin is what operators do to the cluster itself, on the primary of the config server:
// shards join and leave, zones are made and changed, and operators set how the balancer treats a
// collection (protocol 2.1, 14).
//
// Promise: a shard is removed only when it owns no chunk and is the primary of no database, at one
// instant with its removal: what could give it one, a commit, an operation on a whole collection or
// the move of a primary, is decided under the same lock, and finds afterwards that there is no such
// shard. From the beginning of its draining it gets nothing that is asked for later. A shard always
// remains that may own what has to leave: the last shard, and the last one of a zone that has
// ranges, are not drained. The ranges of zones do not overlap. Everything that an answer states is
// majority-committed.
//
// A replica set joins without documents. MongoDB refuses one with a database that the cluster
// knows; as a shard that has left keeps its collections, empty, and may not have learned that they
// were dropped, this store drops those itself, and refuses a replica set that has documents. That
// is also the state in which a shard which has left goes on deleting the ranges that it gave away.
//
// Refusal: nothing here moves anything: the balancer, or an operator, empties a shard that drains.
// A shard that has left is not stopped: it ends what it has begun. There is no topology time: every
// server knows where every replica set is, so there is no list of shards that could be old. The
// shard key of a collection cannot be refined, as keys have one field.
package admin

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
)

// Service is one incarnation of a member of the config server. All that it knows of the cluster is
// in the catalog.
type Service struct {
	config *configsvr.Server
	// changing are the shards that a request adds or removes; free is signalled when one is not any
	// more.
	changing map[string]bool
	free     env.Cond
}

// New serves operators' commands on a member of the config server.
func New(config *configsvr.Server) *Service {
	s := &Service{config: config, changing: make(map[string]bool)}
	e := config.Endpoint()
	rpc.Handle(e, s.addShard)
	rpc.Handle(e, s.removeShard)
	rpc.Handle(e, s.findShard)
	rpc.Handle(e, s.limitShard)
	rpc.Handle(e, s.addShardToZone)
	rpc.Handle(e, s.removeShardFromZone)
	rpc.Handle(e, s.updateZoneKeyRange)
	rpc.Handle(e, s.configureCollectionBalancing)
	rpc.Handle(e, s.clearJumboFlag)
	return s
}

var doneReply = &command.Done{}

// change decides and writes under the lock of chunks, and answers when a majority knows. Decide
// returns what is to be written as one entry, and nothing when everything is as it is wanted.
func (s *Service) change(
	t env.Task, name string, site failpoint.Site, note env.Note, decide func() ([]oplog.Op, error),
) (*command.Done, error) {
	err := s.config.InTerm(t, name, func(own env.Task) error {
		if err := own.Point(site, note); err != nil {
			return err
		}
		return s.config.Settled(own,
			s.config.Locked(own, func() error { return s.write(own, decide) }))
	})
	return doneReply, err
}

func (s *Service) write(t env.Task, decide func() ([]oplog.Op, error)) error {
	ops, err := decide()
	if err != nil || len(ops) == 0 {
		return err
	}
	return s.config.Write(t, ops...)
}
