package balancer

import (
	"slices"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
)

// clusterView is what a choice is made from: the catalog as the primary has it, what was set, and
// what shards say of their data.
type clusterView struct {
	*term
	roundOptions
}

// policyFunc is a policy: it chooses for one collection.
type policyFunc func(*policy.Round, *policy.Collection)

// regular is the policy of the version.
func (v clusterView) regular() policyFunc {
	if v.server.Profile().BalancesBySize() {
		return (*policy.Round).BySize
	}
	return (*policy.Round).ByCount
}

// The kinds of choices: the order in which a round looks at the collections, and what it moves at
// random.
const (
	chooseOrder  env.Choice = "balancer.order"
	chooseRandom env.Choice = "balancer.random"
	seedCount               = 1 << 16
)

func (v clusterView) seed(kind env.Choice) uint64 {
	return uint64(v.node.Choose(kind, string(v.node.ID()), seedCount))
}

// policy is the regular one, or, for a test of everything else, one that moves at random; and
// defragmentation for the collections that either leaves alone for it.
func (v clusterView) policy() policyFunc {
	others := v.regular()
	if v.settings.BalancerRandom != 0 {
		seed, open := v.seed(chooseRandom), v.server.Profile().BalancesBySize()
		others = func(r *policy.Round, c *policy.Collection) { r.AtRandom(c, seed, open) }
	}
	return func(r *policy.Round, c *policy.Collection) {
		others(r, c)
		r.Defragment(c)
	}
}

// shards are those that a round may choose from.
func (v clusterView) shards() (all []policy.Shard) {
	busy := v.scheduler.busy()
	for _, s := range v.server.Shards() {
		all = append(all, policy.Shard{
			Name:     s.Name,
			Draining: s.Draining,
			Zones:    s.Zones,
			MaxBytes: s.MaxBytes,
			Busy:     slices.Contains(busy, s.Name),
		})
	}
	return all
}

// choose makes a round's choice.
func (v clusterView) choose(t env.Task) (*policy.Round, error) {
	colls := v.server.Sharded()
	var order []int
	if len(colls) > 1 {
		order = policy.Shuffled(len(colls), v.seed(chooseOrder))
	} else {
		order = policy.Shuffled(len(colls), 0)
	}
	shards, err := v.weighed(t, colls)
	if err != nil {
		return nil, err
	}
	round := policy.Choose(shards, order, v.policy(), func(batch []int) []policy.Collection {
		return v.batch(t, colls, batch)
	})
	return round, t.Err()
}

// batch is what is known of some of the collections; one that was dropped meanwhile is left out.
func (v clusterView) batch(
	t env.Task, colls []catalog.Collection, batch []int,
) (some []policy.Collection) {
	for _, i := range batch {
		if c, err := v.collection(colls[i].NS); err == nil {
			some = append(some, c)
		}
	}
	if v.server.Profile().BalancesBySize() {
		v.weigh(t, some)
	}
	for i := range some {
		if some[i].Defragment {
			v.measure(t, &some[i])
		}
	}
	return some
}

// collection is what the catalog has about a sharded collection: errcode.NamespaceNotFound when
// there is none.
func (v clusterView) collection(ns string) (policy.Collection, error) {
	table, err := v.server.Table(ns)
	if err != nil {
		return policy.Collection{}, err
	}
	coll := table.Collection()
	if coll.Unsharded {
		return policy.Collection{}, errcode.New(errcode.NamespaceNotFound,
			"collection %s is not sharded", ns)
	}
	c := policy.Collection{
		Table:      table,
		Zones:      v.server.Zones(ns, coll.Key),
		Off:        coll.NoBalance,
		ChunkBytes: v.of(coll).chunkBytes,
		ForceJumbo: v.forceJumbo,
		Defragment: coll.Defragment && v.server.Profile().MergesByItself(),
	}
	return c, nil
}

// of are the options for a collection, which may have chunks of another size.
func (o roundOptions) of(coll catalog.Collection) roundOptions {
	if coll.ChunkBytes > 0 {
		o.chunkBytes = coll.ChunkBytes
	}
	return o
}

// weigh asks every shard how much data it has of the collections. A shard that does not answer is
// left out of their balance.
func (v clusterView) weigh(t env.Task, some []policy.Collection) {
	ids := make([]command.CollectionID, len(some))
	for i := range some {
		coll := some[i].Table.Collection()
		ids[i] = command.CollectionID{NS: coll.NS, UUID: coll.UUID}
		some[i].Bytes = make(map[string]int64)
	}
	v.survey(t, ids, func(shard string, bytes []int64) {
		for i := range some {
			some[i].Bytes[shard] = bytes[i]
		}
	})
}

// weighed are the shards, those with a limit with how much data they have (4.2). It is an error if
// one of them does not answer: it might be full (protocol 14.1).
func (v clusterView) weighed(t env.Task, colls []catalog.Collection) ([]policy.Shard, error) {
	shards := v.shards()
	ids := identified(colls)
	for i := range shards {
		s := &shards[i]
		if s.MaxBytes == 0 {
			continue
		}
		reply, err := v.statistics(t, s.Name, ids)
		if err != nil {
			return nil, err
		}
		for _, n := range reply.Bytes {
			s.Bytes += n
		}
	}
	return shards, t.Err()
}

func identified(colls []catalog.Collection) (ids []command.CollectionID) {
	for _, c := range colls {
		ids = append(ids, command.CollectionID{NS: c.NS, UUID: c.UUID})
	}
	return ids
}

// survey asks all shards at once, and passes on what those say that answer.
func (v clusterView) survey(
	t env.Task, ids []command.CollectionID, answered func(shard string, bytes []int64),
) {
	shards := v.server.Shards()
	left, done := len(shards), env.Cond{}
	for _, s := range shards {
		t.Spawn("statistics of "+s.Name, func(t env.Task) {
			reply, err := v.statistics(t, s.Name, ids)
			if err == nil && len(reply.Bytes) == len(ids) {
				answered(s.Name, reply.Bytes)
			}
			left--
			done.Broadcast()
		})
	}
	_ = done.WaitFor(t, 0, func() bool { return left == 0 })
}

func (v clusterView) statistics(
	t env.Task, shard string, ids []command.CollectionID,
) (*command.StatsForBalancing, error) {
	if err := t.Point(failpoint.BalancerStats, env.Note{Peer: shard}); err != nil {
		return nil, err
	}
	set := v.server.Set(shard)
	if set == nil {
		return nil, errcode.New(errcode.ShardNotFound, "there is no shard %q", shard)
	}
	return rpc.CallPrimary[command.StatsForBalancing](t, set,
		&command.ShardsvrGetStatsForBalancing{Collections: ids}, v.settings.CommandTimeout)
}
