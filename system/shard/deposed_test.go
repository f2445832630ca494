package shard

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// TestRefusalsOfOneCutOff: a primary that is cut off, and may have been deposed, refuses nothing by
// what is there: neither a name for what is sharded, nor an upsert for what no document is there.
func TestRefusalsOfOneCutOff(t *testing.T) {
	database := command.Placement{Versioned: true, Database: true}
	both := must(bson.Marshal(bson.D{
		{Key: "k", Value: 1}, {Key: "$and", Value: bson.A{bson.D{{Key: "k", Value: 1}}}},
	}))
	set := must(bson.Marshal(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 1}}}}))
	for why, req := range map[errcode.Code]env.Message{
		errcode.IllegalOperation: &command.RenameUnsharded{
			NS: "test.plain", To: testNS, Concern: command.Majority, Place: database,
		},
		errcode.NotSingleValueField: &command.Update{
			NS: testNS, Filter: both, Change: set, Upsert: true, Concern: command.Majority,
		},
	} {
		w := newTestCluster(3, sim.Options{Seed: 1})
		t.Cleanup(w.world.Close)
		w.create()
		to := w.primary().Node().ID()
		act(t, w, w.primary(), w.primary().Collection(testNS).Refresh)
		ask := func() (failed error) {
			w.run(time.Minute, w.on("client.0", "ask", func(t env.Task) {
				_, failed = rpc.Call[command.Written](t, w.client, to, req, 0)
			}))
			return failed
		}
		if err := ask(); !errcode.Is(err, why) {
			t.Errorf("who leads answers with %v, want %s", err, why)
		}
		w.isolate()
		if err := ask(); !errcode.Is(err, errcode.PrimarySteppedDown) {
			t.Errorf("who is cut off answers with %v", err)
		}
	}
}
