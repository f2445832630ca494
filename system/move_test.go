package system_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/sim"
)

// TestRangesMoveUnderLoad moves a range to the other shard and back while a client writes and
// reads.
func TestRangesMoveUnderLoad(t *testing.T) {
	r := newRig(t, sim.Options{Seed: 1, Codec: codec.BSON}, small, false, 40)
	r.cluster.Settings().OrphanCleanupDelay = 50 * time.Millisecond
	moving := true
	r.client(func(task env.Task, c *client.Client) {
		defer func() { moving = false }()
		for i, to := range []string{"shard-b", "shard-a", "shard-b"} {
			move := command.MoveRange{
				NS:         ns,
				Min:        key.Min,
				Max:        key.Int(10),
				To:         to,
				WaitDelete: i == 1,
			}
			if err := c.MoveRange(task, move, time.Minute); err != nil {
				t.Errorf("move %d to %s: %v", i, to, err)
			}
		}
	})
	writes := 0
	r.client(func(task env.Task, c *client.Client) {
		for ; moving; writes++ {
			k := int64(writes % 40)
			a := c.FindAndModify(task, command.FindAndModify{NS: ns,
				Filter: raw(bson.D{{Key: "k", Value: k}}),
				Upsert: true,
				Change: raw(bson.D{
					{Key: "$set", Value: bson.D{{Key: "v", Value: "w"}}},
					{Key: "$push", Value: bson.D{{Key: "l", Value: int64(writes)}}},
				}),
				Concern: command.Majority})
			if a.Certainty != client.OK {
				t.Errorf("write %d: %v %v", writes, a.Certainty, a.Err)
			}
			found := c.Find(task, command.Find{
				NS:      ns,
				Filter:  raw(bson.D{{Key: "k", Value: k}}),
				Concern: command.Linearizable,
			})
			if found.Certainty != client.OK || len(found.Docs) != 1 {
				t.Errorf("read after write %d: %+v", writes, found)
				continue
			}
			if list, _ := found.Docs[0].Lookup("l").Array().Values(); len(list) != writes/40+1 {
				t.Errorf("after write %d document %d holds %v", writes, k, list)
			}
		}
	})
	r.run(time.Minute)
	why := r.world.Run(func() bool {
		return len(r.cluster.Outstanding()) == 0
	}, r.world.Now().Add(30*time.Second))
	if left := r.cluster.Outstanding(); len(left) > 0 {
		t.Errorf("%v, still outstanding: %q", why, left)
	}
	table, err := r.cluster.Catalog(ns)
	if err != nil || table.Owner(key.Int(3)).Shard != "shard-b" {
		t.Errorf("after the moves: %v, %v", table.Owner(key.Int(3)), err)
	}
	t.Logf("%d writes at %v, %d steps, events %v", writes, r.world.Now(), r.world.Steps(), r.seen)
	if r.seen[trace.DecisionMade] < 3 {
		t.Errorf("%d decisions", r.seen[trace.DecisionMade])
	}
}
