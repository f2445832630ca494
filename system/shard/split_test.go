package shard

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// TestSplitVectorOfOneCutOff: a primary that is cut off, and may have been deposed, does not say
// that a chunk cannot be split, for which it would be marked as jumbo.
func TestSplitVectorOfOneCutOff(t *testing.T) {
	w := newTestCluster(3, sim.Options{Seed: 1})
	t.Cleanup(w.world.Close)
	w.create()
	to := w.primary().Node().ID()
	ask := func() (points []key.Key, failed error) {
		w.run(time.Minute, w.on("client.0", "ask", func(t env.Task) {
			req := &command.SplitVector{NS: testNS, Min: key.Min, Max: key.Max, ChunkBytes: 1}
			reply, err := rpc.Call[command.SplitVectorReply](t, w.client, to, req, 0)
			if failed = err; err == nil {
				points = reply.Points
			}
		}))
		return points, failed
	}
	if points, err := ask(); err != nil || len(points) > 0 {
		t.Errorf("who leads answers with %v, %v", points, err)
	}
	w.isolate()
	if points, err := ask(); !errcode.Is(err, errcode.PrimarySteppedDown) {
		t.Errorf("who is cut off answers with %v, %v", points, err)
	}
}
