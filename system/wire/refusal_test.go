package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// TestRefusalByDeposedPrimary: a statement that the document as it is does not allow is not refused
// for what a deposed primary has.
func TestRefusalByDeposedPrimary(t *testing.T) {
	const seeds = 20
	for seed := range uint64(seeds) {
		c := simulate(t, seed+1)
		doc := bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}, {Key: "x", Value: "no array"}}
		c.answer(c.routers[0], bson.D{
			{Key: "insert", Value: "docs"}, {Key: "documents", Value: bson.A{doc}}})
		old := c.cluster.Primary("shard-a")
		if !c.depose(old, bson.D{{Key: "_id", Value: 2}, {Key: "k", Value: 2}}) {
			continue
		}
		c.on(c.routers[1], func(t env.Task) {
			ep, elected := c.cluster.Router(c.routers[1]).Endpoint(), c.cluster.Primary("shard-a")
			array := bson.D{{Key: "x", Value: bson.A{}}}
			update := &command.Update{
				NS: "test.docs", Filter: marshal(c.T, bson.D{{Key: "k", Value: 1}}),
				Change:  marshal(c.T, bson.D{{Key: "$set", Value: array}}),
				Concern: command.Majority,
			}
			w, err := rpc.Call[command.Written](t, ep, elected, update, time.Second)
			if err != nil || w.Modified != 1 {
				c.Errorf("the new primary has updated %v, %v", w, err)
			}
		})
		if !c.cluster.Member(old).IsPrimary() {
			continue
		}
		answer := c.answer(c.routers[0], bson.D{{Key: "update", Value: "docs"},
			{Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "k", Value: 1}}},
				{Key: "u", Value: bson.D{{Key: "$push", Value: bson.D{{Key: "x", Value: 5}}}}}}}}})
		if _, err := answer.LookupErr("writeErrors"); err == nil {
			t.Errorf("refused by what the deposed primary has: %v", answer)
		}
		return
	}
	t.Fatal("every primary knew that it was deposed")
}
