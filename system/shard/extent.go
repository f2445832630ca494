package shard

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// collStats counts what is there, orphans as well, as the statistics of a collection do. It waits
// until a majority confirms that it leads: a deposed primary would count what others have changed
// since, or what nobody else has.
func (s *Server) collStats(
	t env.Task, _ env.NodeID, req *command.ShardsvrCollStats,
) (*command.ShardExtent, error) {
	lead, err := s.Member().Lead()
	if err != nil {
		return nil, err
	}
	x := &command.ShardExtent{}
	x.Documents, x.Bytes = s.Member().Store().Extent(req.NS)
	return x, lead.AwaitMajority(t)
}
