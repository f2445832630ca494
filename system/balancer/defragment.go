package balancer

import (
	"maps"
	"slices"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// defragmentedReason is why a collection is balanced by the regular policy again.
const defragmentedReason = "defragmented"

// defragment handles the collections that operators want to have fewer chunks. What the table shows
// is all there is to know of how far it has got, so that the next primary goes on where this one
// stops. What fails is tried again in the next round.
func (r *round) defragment(t env.Task) error {
	for _, coll := range r.server.Sharded() {
		if c, err := r.collection(coll.NS); err == nil && c.Defragment {
			r.join(t, &c)
		}
	}
	return t.Err()
}

// join has shards join what they can, and ends the defragmentation when nothing is left; what is in
// between, a round chooses.
func (r *round) join(t env.Task, c *policy.Collection) {
	r.tick(t)
	merges := policy.FragmentMerges(c, r.server.HistoryBegins())
	for _, merge := range merges {
		if r.permits(r.term.options()) {
			_ = r.merge(t, merge)
		}
	}
	if len(merges) > 0 {
		return
	}
	if r.measure(t, c); policy.Defragmented(c, r.shards()) &&
		t.Point(failpoint.BalancerDefragmented, env.Note{ID: c.Table.Collection().NS}) == nil {
		_ = r.server.Locked(t, func() error {
			return r.endDefragmentation(t, c.Table.Collection())
		})
	}
}

// endDefragmentation gives the collection back to the regular policy, if it still is the one that
// was looked at.
func (m *term) endDefragmentation(t env.Task, coll catalog.Collection) error {
	table, err := m.server.Table(coll.NS)
	if err != nil || table.Collection().Epoch != coll.Epoch || !table.Collection().Defragment {
		return err
	}
	as := table.Collection().Balancing
	as.Defragment = false
	return m.server.Describe(t, table, as, defragmentedReason)
}

// measure asks the owners of a collection's chunks for their sizes. The chunks of one that does not
// answer are left out.
func (v clusterView) measure(t env.Task, c *policy.Collection) {
	c.Sizes = make(map[key.Key]int64, c.Table.Len())
	owned := policy.Owned(c.Table)
	left, done := len(owned), env.Cond{}
	for _, shard := range slices.Sorted(maps.Keys(owned)) {
		t.Spawn("sizes of chunks on "+shard, func(t env.Task) {
			sizes, err := v.sizes(t, shard, c.Table.Collection().NS, owned[shard])
			if err == nil && len(sizes) == len(owned[shard]) {
				for i, rng := range owned[shard] {
					c.Sizes[rng.Min] = sizes[i]
				}
			}
			left--
			done.Broadcast()
		})
	}
	_ = done.WaitFor(t, 0, func() bool { return left == 0 })
}

func (v clusterView) sizes(t env.Task, shard, ns string, ranges []key.Range) ([]int64, error) {
	if err := t.Point(failpoint.BalancerStats, env.Note{Peer: shard}); err != nil {
		return nil, err
	}
	set := v.server.Set(shard)
	if set == nil {
		return nil, errcode.New(errcode.ShardNotFound, "there is no shard %q", shard)
	}
	reply, err := rpc.CallPrimary[command.DataSizes](t, set,
		&command.DataSize{NS: ns, Ranges: ranges}, v.settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	return reply.Bytes, nil
}
