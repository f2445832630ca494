package shard

import (
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
)

// Ask sends a message that may be repeated to the primary of a shard, or of the config server. That
// nobody answers for a replica set which has left the cluster is an errcode.ShardNotFound: it will
// not be otherwise later (H-38).
func Ask[Resp any](
	t env.Task, s *Server, set string, req env.Message, timeout time.Duration,
) (*Resp, error) {
	to := s.Set(set)
	if to == nil {
		return nil, errcode.New(errcode.ShardNotFound, "there is no shard %q", set)
	}
	resp, err := rpc.AskPrimary[Resp](t, to, req, timeout)
	if rpc.Gone(err) && set != ConfigSet && t.Err() == nil {
		if left := s.left(t, set); left != nil {
			return nil, left
		}
	}
	return resp, err
}

// left returns an errcode.ShardNotFound when the catalog says that there is no such shard, and
// nil when it does not know.
func (s *Server) left(t env.Task, name string) error {
	_, err := s.findShard(t, name, s.Clock().Now().Config)
	if !errcode.Is(err, errcode.ShardNotFound) {
		return nil
	}
	s.node.Sometimes("a shard finds out that another, which does not answer, has left the cluster")
	return err
}

// MayReceive returns an errcode.ShardNotFound when there is no such shard or it drains. It may
// begin to at any time: the commit checks again.
func (s *Server) MayReceive(t env.Task, name string) error {
	found, err := s.findShard(t, name, s.Clock().Now().Config)
	if err == nil && found.Draining {
		err = errcode.New(errcode.ShardNotFound, "shard %s is draining and takes nothing", name)
	}
	return err
}

// findShard asks what a majority of the config server knows of a shard, at that time or later.
func (s *Server) findShard(
	t env.Task, name string, after hlc.Timestamp,
) (*command.FoundShard, error) {
	req := &command.FindShard{Name: name, After: after}
	return rpc.CallAny[command.FoundShard](t, s.Set(ConfigSet), req, s.cfg.Settings.CommandTimeout)
}
