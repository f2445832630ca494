package shard

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// BenchmarkUpdate is a retryable update with majority on a shard of three, from the client's call
// to its answer.
func BenchmarkUpdate(b *testing.B) {
	filter := must(bson.Marshal(bson.D{{Key: "_id", Value: int64(1)}, {Key: "k", Value: int64(1)}}))
	change := must(bson.Marshal(bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}))
	benchmark(b, func(t env.Task, c *testCluster, n int) {
		must(send[command.Written](t, c, c.ids[0], &command.Update{
			NS:      testNS,
			Filter:  filter,
			Change:  change,
			Upsert:  true,
			Concern: command.Majority,
			Place:   c.place(),
			Session: command.Session{ID: "s", Txn: int64(n + 1)},
		}))
	})
}

// BenchmarkFind is a linearizable read of one document.
func BenchmarkFind(b *testing.B) {
	filter := must(bson.Marshal(bson.D{{Key: "k", Value: int64(1)}}))
	benchmark(b, func(t env.Task, c *testCluster, n int) {
		if n == 0 {
			c.put(t, 1)
		}
		must(send[command.Batch](t, c, c.ids[0], &command.Find{
			NS:      testNS,
			Filter:  filter,
			Concern: command.Linearizable,
			Place:   c.place(),
		}))
	})
}

func benchmark(b *testing.B, once func(t env.Task, c *testCluster, n int)) {
	c := newTestCluster(3, sim.Options{})
	defer c.world.Close()
	c.create()
	c.ids[0], c.ids[1], c.ids[2] = c.primaryFirst()
	b.ReportAllocs()
	b.ResetTimer()
	done := c.on("client.0", "bench", func(t env.Task) {
		for n := range b.N {
			once(t, c, n)
		}
	})
	c.run(1<<62-1, done)
}

// primaryFirst orders the members for those who send to the first.
func (c *testCluster) primaryFirst() (a, b, d env.NodeID) {
	first := c.elect().Node().ID()
	rest := make([]env.NodeID, 0, 2)
	for _, id := range c.ids {
		if id != first {
			rest = append(rest, id)
		}
	}
	return first, rest[0], rest[1]
}
