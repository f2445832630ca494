package shardstore

import (
	"slices"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Holdings are what the shards own of a collection.
func (c *cluster) Holdings(ns string) ([]target.Holding, error) {
	holdings, err := c.Cluster.Holdings(ns)
	if err != nil {
		return nil, err
	}
	all := make([]target.Holding, len(holdings))
	for i, h := range holdings {
		all[i] = target.Holding{
			Shard:     h.Shard,
			Documents: h.Documents,
			Bytes:     h.Bytes,
			Chunks:    h.Chunks,
		}
	}
	return all, nil
}

// Moving is how many migrations of the balancer have not ended.
func (c *cluster) Moving() int { return len(c.balancing.underWay) }

// Chooses reports whether the balancer runs, or an operator does anything that it has to see to.
func (c *cluster) Chooses() bool {
	forBalancer := func(c scenario.Command) bool { return adminCommands[c.Do].balances }
	return c.scenario.Balancer || slices.ContainsFunc(c.scenario.Commands, forBalancer)
}
