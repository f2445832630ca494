package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/wire/dispatch"
	"github.com/shardproof/shardproof/system/wire/failcommand"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/request"
)

// conversation is what one router answers to commands that rest on each other.
func (c *simulated) conversation(router env.NodeID) func(cmd bson.D) bson.Raw {
	served := dispatch.New(c.behind(router), false)
	return func(cmd bson.D) (answer bson.Raw) {
		c.Helper()
		req, err := request.Parse(&frame.Message{
			Body: marshal(c.T, append(cmd, bson.E{Key: "$db", Value: "test"}))})
		if err != nil {
			c.Fatal(err)
		}
		c.on(router, func(t env.Task) {
			answer = marshal(c.T, served.Answer(t, req, failcommand.Fate{}))
		})
		return answer
	}
}

// TestUpdateLookupFails: that a document could not be looked up does not mean that it is gone. The
// stream fails, and its client resumes it.
func TestUpdateLookupFails(t *testing.T) {
	c := simulate(t, 1)
	ask := c.conversation(c.routers[0])
	id, k := bson.E{Key: "_id", Value: 1}, bson.E{Key: "k", Value: 1}
	ask(bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: bson.A{bson.D{id, k}}}})
	opened := ask(bson.D{{Key: "aggregate", Value: "docs"}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{
			{Key: "fullDocument", Value: "updateLookup"}}}}}}})
	cursor, ok := opened.Lookup("cursor", "id").AsInt64OK()
	if !ok {
		t.Fatalf("the stream was opened with %v", opened)
	}
	ask(bson.D{{Key: "update", Value: "docs"}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{k}}, {Key: "u", Value: bson.D{
			{Key: "$set", Value: bson.D{{Key: "x", Value: 2}}}}}}}}})
	lost := c.world.AddRule(sim.Rule{
		From: string(c.routers[0]), To: "shard-a.*", Fate: sim.Fate{Drop: true},
		Match: func(m *sim.Message) bool {
			sent, ok := m.Body.(*rpc.Envelope)
			if ok && m.Call {
				_, ok = sent.Body.(*command.Find)
			}
			return ok && m.Call
		},
	})
	more := ask(bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: "docs"}})
	c.world.RemoveRule(lost)
	label, _ := more.Lookup("errorLabels", "0").StringValueOK()
	if label != "ResumableChangeStreamError" {
		t.Errorf("the stream went on with %v", more)
	}
}
