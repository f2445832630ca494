package protocoltest_test

import (
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

func init() {
	// points shard-a 0 10 bytes=400 limit=1: where the shard would split the range (autoSplitVector).
	errands["points"] = (*rig).splitPoints
	// fill 100 119 v=x: a client writes all of these documents, one after the other.
	errands["fill"] = (*rig).fill
	// mergeall shard-a: all chunks of the shard become one that may.
	errands["mergeall"] = func(r *rig, l line) error {
		r.ask("merge of all on "+l.word(0), l.word(0), &command.ShardsvrMergeAllChunks{NS: sharded})
		return nil
	}
	// sizes: how much data each shard says that it has of test.docs.
	errands["sizes"] = (*rig).sizes
}

func (r *rig) splitPoints(l line) error {
	set := r.operator().sets[l.word(0)]
	req := &command.SplitVector{
		NS: sharded, Min: bound(l.word(1)), Max: bound(l.word(2)), ChunkBytes: l.number("bytes", 400), Limit: int(l.number("limit", 0)),
	}
	r.send(r.operator(), func(t env.Task) {
		reply, err := rpc.CallPrimary[command.SplitVectorReply](t, set, req, time.Minute)
		if err != nil {
			r.answer("points", err)
			return
		}
		r.say("split at %v", reply.Points)
	})
	return nil
}

func (r *rig) sizes(line) error {
	table, err := r.cluster.Catalog(sharded)
	if err != nil {
		return err
	}
	req := &command.ShardsvrGetStatsForBalancing{Collections: []command.CollectionID{{NS: sharded, UUID: table.Collection().UUID}}}
	r.send(r.operator(), func(t env.Task) {
		for _, shard := range r.cluster.Topology().ShardNames() {
			reply, err := rpc.CallPrimary[command.StatsForBalancing](t, r.operator().sets[shard], req, time.Minute)
			if err != nil {
				r.answer("sizes", err)
				return
			}
			r.say("%s has %d bytes", shard, reply.Bytes[0])
		}
	})
	return nil
}

func (r *rig) fill(l line) error {
	u, keys, v := r.clients()[0], l.keys(), l.arg("v", "new")
	r.send(u, func(t env.Task) {
		for k := keys[0]; k <= keys[1]; k++ {
			r.upsert(t, u, k, v)
		}
	})
	return nil
}
