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

// TestUpdateLookupAfterRename: the document of a change is not looked up in another collection that
// has got the name since.
func TestUpdateLookupAfterRename(t *testing.T) {
	for _, coll := range []string{"docs", "plain"} { // sharded, and not
		c := simulate(t, 1)
		ask := c.conversation(c.routers[0])
		insert := func(x int) {
			c.wantOK(bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: []bson.D{
				has(1, 1, bson.E{Key: "x", Value: x})}}})
		}
		update := func(x int) {
			c.wantOK(bson.D{{Key: "update", Value: coll}, {Key: "updates", Value: []bson.D{{
				{Key: "q", Value: bson.D{{Key: "k", Value: 1}}},
				{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: x}}}}}}}}})
		}
		insert(1)
		opened := ask(bson.D{{Key: "aggregate", Value: coll}, {Key: "cursor", Value: bson.D{}},
			{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{
				{Key: "fullDocument", Value: "updateLookup"}}}}}}})
		more := bson.D{{Key: "getMore", Value: opened.Lookup("cursor", "id")},
			{Key: "collection", Value: coll}}
		update(2)
		full := ask(more).Lookup("cursor", "nextBatch", "0", "fullDocument", "x")
		if x, _ := full.AsInt64OK(); x != 2 {
			t.Errorf("%s: the document of the first change has %v", coll, full)
		}
		update(3)
		c.on(c.routers[1], func(task env.Task) {
			rename := request.Request{Name: "renameCollection", DB: "admin", Body: marshal(t, bson.D{
				{Key: "renameCollection", Value: "test." + coll}, {Key: "to", Value: "test.other"}})}
			served := dispatch.New(c.behind(c.routers[1]), false)
			answer := marshal(t, served.Answer(task, &rename, failcommand.Fate{}))
			if answer.Lookup("ok").Double() != 1 {
				t.Errorf("%s: the rename is answered with %v", coll, answer)
			}
		})
		insert(4)
		change := ask(more).Lookup("cursor", "nextBatch", "0")
		doc, _ := change.DocumentOK()
		if what, _ := doc.Lookup("operationType").StringValueOK(); what != "update" ||
			doc.Lookup("fullDocument").Type != bson.TypeNull {
			t.Errorf("%s: the second change is %v", coll, change)
		}
	}
}
