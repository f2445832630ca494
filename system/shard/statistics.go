package shard

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/serverstatus"
)

// AddStatistics has fn fill in, at every request for the counters, those that are not counted but
// looked up.
func (s *Server) AddStatistics(fn func(*serverstatus.Sharding)) {
	s.lookups = append(s.lookups, fn)
}

// shardingStatistics answers on any member, primary or not: the counters are those of its process.
func (s *Server) shardingStatistics(
	env.Task, env.NodeID, *command.ShardingStatistics,
) (*command.ShardingStatisticsReply, error) {
	return s.Counters(), nil
}

// Counters are what the member answers to shardingStatistics.
func (s *Server) Counters() *command.ShardingStatisticsReply {
	for _, fill := range s.lookups {
		fill(&s.statistics)
	}
	values := s.statistics.Values()
	reply := &command.ShardingStatisticsReply{Values: make([]command.Statistic, len(values))}
	for i, v := range values {
		reply.Values[i] = command.Statistic(v)
	}
	return reply
}

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
