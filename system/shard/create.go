package shard

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// createCollection makes the collection, unless it is there: with another UUID that is an
// errcode.BadValue.
func (s *Server) createCollection(
	t env.Task, _ env.NodeID, req *command.CreateCollection,
) (*command.Done, error) {
	if err := s.needPrimary(); err != nil {
		return nil, err
	}
	if options, exists := s.cfg.Member.Store().Options(req.NS); exists {
		if uuid, _, err := store.DecodeOptions(options); err != nil || uuid != req.UUID {
			return nil, errcode.New(errcode.BadValue, "%s has %s as %q, not %q",
				s.name, req.NS, uuid, req.UUID)
		}
	} else if err := s.create(t, req); err != nil {
		return nil, err
	}
	if err := s.cfg.Member.AwaitMajority(t); err != nil {
		return nil, err
	}
	return &command.Done{}, nil
}

func (s *Server) create(t env.Task, req *command.CreateCollection) error {
	op := oplog.Op{
		Kind:  oplog.Create,
		NS:    req.NS,
		Doc:   store.EncodeOptions(req.UUID, req.Key),
		Actor: uint8(trace.System),
	}
	_, err := s.cfg.Member.Write(t, op)
	return err
}
