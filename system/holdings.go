package system

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/store"
)

// Holding is what a shard owns of a collection.
type Holding struct {
	Shard            string
	Documents, Bytes int64
	// Largest is the size of the largest of the documents.
	Largest int64
	Chunks  int
	// Weight is Bytes as balancing estimates them: of all that the shard has, orphans are taken off
	// as if they were of the average size (protocol 10.6, 14.2).
	Weight int64
}

// Holdings are what the shards own of a collection by its routing table, as a majority of the
// config server has it, and have of it on their primaries; of a shard without one the documents of
// any member count, and of one that is down as a whole none.
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
		if m := c.witness(name); m != nil {
			h.Weight = h.estimate(m.Store().Extent(ns))
		}
	}
	return all, nil
}

// estimate takes orphans off what there is altogether.
func (h *Holding) estimate(documents, bytes int64) int64 {
	if documents == 0 {
		return 0
	}
	return max(0, bytes-(documents-h.Documents)*(bytes/documents))
}

func (c *Cluster) weigh(ns string, rng key.Range, h *Holding) {
	m := c.witness(h.Shard)
	if m == nil {
		return
	}
	m.Store().ScanKey(ns, rng, store.Latest, store.Place{},
		func(_ key.Key, _ string, doc bson.Raw) bool {
			h.Documents++
			h.Bytes += int64(len(doc))
			h.Largest = max(h.Largest, int64(len(doc)))
			return true
		})
}

// witness is the shard's primary, or any member that runs; nil when none does.
func (c *Cluster) witness(shard string) *replset.Member {
	id := c.Primary(shard)
	for _, other := range c.nodes[shard] {
		if c.Member(id) == nil {
			id = env.NodeID(other)
		}
	}
	return c.Member(id)
}
