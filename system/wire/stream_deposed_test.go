package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// TestStreamOpensOnDeposedPrimary: a primary that was deposed and does not know it does not agree
// to the version by which a stream chooses its shards: its successor may have moved ranges since.
func TestStreamOpensOnDeposedPrimary(t *testing.T) {
	c := deposed(t, bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}})
	c.on(c.routers[0], func(task env.Task) {
		d := c.behind(c.routers[0])
		table, err := d.Table(task, "test.docs")
		if err != nil {
			t.Fatal(err)
		}
		old, err := d.Shards["shard-a"].Primary(task)
		if err != nil || old == c.cluster.Primary("shard-a") {
			t.Fatalf("the router asks %s, %v", old, err)
		}
		read := &command.ReadChanges{
			NS: "test.docs", Open: true, Place: command.PlacementBy(table, "shard-a"),
		}
		got, err := rpc.Call[command.ChangesRead](task, d.Endpoint, old, read, 0)
		if err == nil {
			t.Errorf("the deposed primary agrees: %+v", got)
		}
	})
}
