package shardstore

import (
	"slices"
	"strconv"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// restedRounds is after how many rounds that have found nothing to do nothing may be left: one of
// them may have missed a shard's answer.
const restedRounds = 5

// awaitBalance waits until a whole round has found nothing to do and nothing is lacking.
func (o operatorConnection) awaitBalance(t env.Task) {
	for round := 1; ; round++ {
		for !o.Ready() && t.Sleep(pollEvery) == nil {
			// Rounds leave out who cannot answer, and are quicker than elections.
		}
		o.balancing.settled = false
		for !o.balancing.settled {
			if t.Sleep(pollEvery) != nil {
				return
			}
		}
		if o.balanced(round == restedRounds) || round == restedRounds {
			return
		}
	}
}

// balanced judges every collection that the balancer may move, and reports what is lacking if it is
// the last time.
func (o operatorConnection) balanced(last bool) bool {
	for _, c := range o.scenario.Collections {
		rest := o.lies(&c)
		if rest == nil {
			continue
		}
		if lacking := rest.Lacking(o.oracle.Cluster(), o.oracle.Span); lacking != "" {
			if last {
				o.oracle.Rested(rest.NS, rest.Table(), lacking)
			}
			return false
		}
	}
	return true
}

// lies is how a collection lies on the shards; nil for one that the balancer leaves alone, and when
// nobody knows.
func (o operatorConnection) lies(c *scenario.Collection) *endstate.BalanceState {
	table, err := o.Catalog(c.NS)
	if err != nil || c.Unsharded {
		return nil
	}
	coll := table.Collection()
	holdings, err := o.cluster.Cluster.Holdings(c.NS)
	if err != nil || coll.Unsharded || coll.NoBalance || !coll.AllowMigrations || coll.Defragment {
		return nil
	}
	rest := &endstate.BalanceState{
		NS:         c.NS,
		BySize:     protocolOf(o.scenario).BalancesBySize(),
		ChunkBytes: coll.ChunkBytes,
		Bytes:      map[string]int64{},
	}
	if rest.ChunkBytes == 0 {
		rest.ChunkBytes = slices.Max(o.chunkSizes())
	}
	for chunk := range table.Chunks() {
		rest.Chunks = append(rest.Chunks, endstate.PlacedChunk{
			Min:   string(chunk.Min),
			Max:   string(chunk.Max),
			Shard: chunk.Shard,
			Jumbo: chunk.Jumbo,
		})
	}
	for _, h := range holdings {
		rest.Bytes[h.Shard] = h.Weight
	}
	return rest
}

// chunkSizes are the sizes that a chunk of a collection without one of its own may have: an answer
// may have been lost, so nobody knows which command was the last.
func (o operatorConnection) chunkSizes() []int64 {
	all := []int64{int64(o.settings.MaxChunkBytes)}
	scenario.VisitChunkSizes(o.scenario.Commands, func(ns string, value *string) {
		if n, err := strconv.ParseInt(*value, 10, 64); ns == "" && err == nil && n > 0 {
			all = append(all, n)
		}
	})
	return all
}
