package system

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// Holding is what a shard owns of a collection.
type Holding struct {
	Shard            string
	Documents, Bytes int64
	// Largest is the size of the largest of the documents.
	Largest int64
	Chunks  int
}

// Holdings are what the shards own of a collection by its routing table, as a majority of the config server has it, and have of it
// on their primaries; of a shard without one the documents of any member count, and of one that is down as a whole none.
func (c *Cluster) Holdings(ns string) ([]Holding, error) {
	table, err := c.Catalog(ns)
	if err != nil {
		return nil, err
	}
	all := make([]Holding, len(c.topology.ShardNames()))
	for i, name := range c.topology.ShardNames() {
		h := &all[i]
		h.Shard = name
		for chunk := range table.ChunksOf(name) {
			h.Chunks++
			c.weigh(ns, chunk.Range, h)
		}
	}
	return all, nil
}

func (c *Cluster) weigh(ns string, rng key.Range, h *Holding) {
	id := c.Primary(h.Shard)
	for _, other := range c.nodes[h.Shard] {
		if c.Member(id) == nil {
			id = env.NodeID(other)
		}
	}
	m := c.Member(id)
	if m == nil {
		return
	}
	m.Store().ScanKey(ns, rng, store.Latest, store.Place{}, func(_ key.Key, _ string, doc bson.Raw) bool {
		h.Documents++
		h.Bytes += int64(len(doc))
		h.Largest = max(h.Largest, int64(len(doc)))
		return true
	})
}
