package shard

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// collStats counts what is there, orphans as well, as the statistics of a collection do.
func (s *Server) collStats(
	_ env.Task, _ env.NodeID, req *command.ShardsvrCollStats,
) (*command.ShardExtent, error) {
	if err := s.Member().NeedPrimary(); err != nil {
		return nil, err
	}
	x := &command.ShardExtent{}
	x.Documents, x.Bytes = s.Member().Store().Extent(req.NS)
	return x, nil
}
