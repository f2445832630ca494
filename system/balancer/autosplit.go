package balancer

import (
	"fmt"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// splitPolicy answers a shard of 4.2 with the settings for splitting chunks on its own.
func (b *Balancer) splitPolicy(
	t env.Task, _ env.NodeID, req *command.GetSplitPolicy,
) (reply *command.SplitPolicy, err error) {
	err = b.server.InTerm(t, "split policy of "+req.NS, func(own env.Task) error {
		v := clusterView{b.now, b.options()}
		c, err := v.collection(req.NS)
		if err != nil {
			return b.server.Settled(own, err)
		}
		reply = &command.SplitPolicy{
			ChunkBytes: c.ChunkBytes,
			AutoSplit:  b.enabled(autoSplit),
			Balancing:  b.now.permits(v.roundOptions) && !c.Off,
		}
		return b.server.Majority(own)
	})
	return reply, err
}

// enabled reports whether operators have left a service on that is on unless they say otherwise.
func (b *Balancer) enabled(setting string) bool {
	on, set := b.server.Setting(setting).Lookup("enabled").BooleanOK()
	return on || !set
}

// rebalanceChunk has the balancer move one chunk beside its rounds (4.2, top-chunk optimisation).
func (b *Balancer) rebalanceChunk(
	t env.Task, _ env.NodeID, req *command.RebalanceChunk,
) (*command.Done, error) {
	err := b.server.InTerm(t, "rebalance a chunk of "+req.NS, func(own env.Task) error {
		v := clusterView{b.now, b.options()}
		if !v.recovered || !v.permits(v.roundOptions) {
			return errcode.New(errcode.ConflictingOperationInProgress,
				"the balancer moves nothing now")
		}
		c, chunk, err := v.whole(req)
		if err != nil {
			return err
		}
		shards, err := v.weighed(own, v.server.Sharded())
		if err != nil {
			return err
		}
		v.rebalance(own, shards, &c, chunk)
		return nil
	})
	return &command.Done{}, err
}

// whole is the chunk that has exactly the bounds that are meant.
func (v clusterView) whole(req *command.RebalanceChunk) (policy.Collection, catalog.Chunk, error) {
	c, err := v.collection(req.NS)
	if err != nil {
		return c, catalog.Chunk{}, err
	}
	chunk := c.Table.Owner(req.Min)
	if rng := (key.Range{Min: req.Min, Max: req.Max}); chunk.Version.Epoch != req.Epoch ||
		chunk.Range != rng {
		return c, chunk, errcode.New(errcode.IncompatibleShardingMetadata,
			"%v is no chunk of %s any more", rng, req.NS)
	}
	return c, chunk, nil
}

// rebalance hands the chunk to the scheduler, unless it is best where it is or its shard is taken.
func (v clusterView) rebalance(
	t env.Task, shards []policy.Shard, c *policy.Collection, chunk catalog.Chunk,
) {
	for _, s := range shards {
		if s.Name == chunk.Shard && s.Busy {
			return
		}
	}
	to, found := policy.NewRound(shards).Receiver(c, chunk)
	if !found {
		return
	}
	v.singles++
	v.scheduler.enqueue(t, &moveRequest{
		Migration: policy.Migration{
			NS:     c.Table.Collection().NS,
			Chunk:  chunk,
			To:     to,
			Reason: policy.TopChunk,
		},
		roundOptions: v.of(c.Table.Collection()),
		name:         fmt.Sprintf("balancer/%d/0/%d", v.number, v.singles),
	})
}
