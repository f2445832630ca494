package shard

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// shardingStatistics answers on any member, primary or not: the counters are those of its process.
func (s *Server) shardingStatistics(env.Task, env.NodeID, *command.ShardingStatistics) (*command.ShardingStatisticsReply, error) {
	values := s.statistics.Values()
	reply := &command.ShardingStatisticsReply{Values: make([]command.Statistic, len(values))}
	for i, v := range values {
		reply.Values[i] = command.Statistic(v)
	}
	return reply, nil
}
