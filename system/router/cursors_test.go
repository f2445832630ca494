package router

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// TestStreamReadForLong: however often a change stream is read, nothing is kept but the stream.
func TestStreamReadForLong(t *testing.T) {
	world := sim.New(sim.Options{Seed: 1})
	defer world.Close()
	world.AddNode("shard-a.0", func(env.Task) {}) // it does not answer
	read := 0
	world.AddNode("router.0", func(task env.Task) {
		ep, s := rpc.Listen(task.Node(), hlc.New(task.Node())), settings.Default80()
		set := rpc.NewSet(ep, "shard-a", []env.NodeID{"shard-a.0"}, &s)
		r := New(ep, set, map[string]*rpc.Set{"shard-a": set}, &s, protocol.V80)
		id := r.streams.keep(&changeStream{router: r, tails: []*shardTail{{set: set}}})
		for ; read < 1000; read++ {
			batch, err := r.nextChanges(task, "client", &command.NextChanges{Stream: id})
			if err != nil {
				t.Error(err)
				return
			}
			id = batch.Stream
		}
		if n := len(r.streams.queue); n != 1 {
			t.Errorf("%d places are kept of one stream", n)
		}
	})
	world.Run(nil, env.Time(24*time.Hour))
	if err := world.Err(); err != nil || read != 1000 {
		t.Fatal(err, read)
	}
}
