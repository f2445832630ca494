package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Cluster is what the config server's leader has of shards, zones and the balancer; nil when
// nothing is known.
func (o *Oracle) Cluster() *model.Cluster { return o.world.LatestCluster() }

// Rested reports what is lacking in a collection, whose routing table is given, although the
// balancer has nothing to do.
func (o *Oracle) Rested(ns string, chunks []trace.Chunk, lacking string) {
	because, steps := o.leftBehind(ns, chunks)
	o.reportOf(Balancing, verdict.Violation{
		Signature: notBalanced,
		NS:        ns,
		Broke:     "the balancer has stopped moving chunks, although " + lacking,
		Because: append([]string{
			"it is enabled, nothing is in progress, and round after round ended without a " +
				"migration",
		}, because...),
	}, append(steps, cmp.Or(o.balancer.ended, o.step))...)
}

// leftBehind says what shards have of chunks that others own, which the balancer must not take for
// theirs, and what keeps it there. The steps are those at which the newest of these chunks was
// given away, and at which what keeps it began.
func (o *Oracle) leftBehind(ns string, chunks []trace.Chunk) (because []string, steps []uint64) {
	for _, shard := range o.world.LatestCluster().Shards() {
		set, left := o.world.Set(shard), 0
		for _, at := range chunks {
			if at.Shard != shard {
				left += len(set.Documents(ns, at.Min, at.Max))
			}
		}
		if left == 0 {
			continue
		}
		because = append(because,
			fmt.Sprintf("%s still has %d documents that it does not own", shard, left))
		steps = append(steps, o.gaveAway(ns, shard))
		for _, c := range o.node(set.Leader).cursors {
			if c.ns == ns {
				because = append(because,
					fmt.Sprintf("cursor %s is still open and keeps them from being deleted", c.id))
				steps = append(steps, c.step)
			}
		}
	}
	return because, steps
}

// gaveAway is the step at which a shard decided its newest migration of a collection; 0 for none.
func (o *Oracle) gaveAway(ns, shard string) (step uint64) {
	for _, id := range slices.Sorted(maps.Keys(o.moves)) {
		if m := o.moves[id]; m.ns == ns && m.from == shard {
			step = max(step, m.decision)
		}
	}
	return step
}
