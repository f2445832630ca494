package walks_test

import (
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

func init() {
	// points shard-a 0 10 bytes=400 limit=1: where the shard would split the range (autoSplitVector).
	errands["points"] = (*rig).splitPoints
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
