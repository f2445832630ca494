package rangedel

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// statsForBalancing answers the balancer how much the shard has of collections, orphans left out
// (protocol 14.2).
func (r *Service) statsForBalancing(
	_ env.Task, _ env.NodeID, req *command.ShardsvrGetStatsForBalancing,
) (*command.StatsForBalancing, error) {
	if err := r.member.NeedPrimary(); err != nil {
		return nil, err
	}
	reply := &command.StatsForBalancing{}
	for _, c := range req.Collections {
		reply.Bytes = append(reply.Bytes, r.ownedBytes(c))
	}
	return reply, nil
}

// ownedBytes looks at no document: orphans are taken for as big as the average.
func (r *Service) ownedBytes(c command.CollectionID) int64 {
	documents, bytes := r.member.Store().Extent(c.NS)
	if documents == 0 || !r.has(c.NS, c.UUID) {
		return 0
	}
	return max(0, bytes-r.orphans(c.UUID)*(bytes/documents))
}

// orphans is how many documents of the collection the tasks count that the shard has and does not
// own (protocol 10.6).
func (r *Service) orphans(uuid string) (n int64) {
	for _, k := range r.tasks.All() {
		if k.UUID == uuid {
			n += k.Orphans
		}
	}
	return n
}
