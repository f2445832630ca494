package wire_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// out is an aggregate command whose results become a collection.
func out(coll string, docs ...bson.D) bson.D {
	return bson.D{{Key: "aggregate", Value: 1}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$documents", Value: append([]bson.D{}, docs...)}},
			bson.D{{Key: "$out", Value: coll}}}}}
}

// wantNames compares the names of all collections, once nothing but them is there.
func (c *simulated) wantNames(want ...string) {
	c.Helper()
	expected := make([]bson.D, len(want))
	for i, name := range want {
		expected[i] = bson.D{{Key: "name", Value: name}, {Key: "type", Value: "collection"}}
	}
	all := marshal(c.T, bson.D{{Key: "docs", Value: expected}}).Lookup("docs")
	c.until("only the collections are there", func() bool {
		return c.cluster.Ready() // a moment, in which what is left over goes
	})
	answer := c.answer(c.routers[0], bson.D{{Key: "listCollections", Value: 1},
		{Key: "nameOnly", Value: true}})
	if got := answer.Lookup("cursor", "firstBatch"); !got.Equal(all) {
		c.Errorf("the collections are %v, not %v", got, all)
	}
}

// TestOut: the results take the place of the collection that was there, which keeps its indexes.
func TestOut(t *testing.T) {
	c := simulate(t, 1)
	for i := range 2 {
		c.wantOK(out("results", has(i, 1), has(i+1, 1)))
		c.wantDocs("results", has(i, 1), has(i+1, 1))
		if i == 0 {
			c.wantOK(bson.D{{Key: "createIndexes", Value: "results"}, {Key: "indexes", Value: bson.A{
				bson.D{{Key: "key", Value: bson.D{{Key: "x", Value: 1}}}, {Key: "name", Value: "x_1"}},
			}}})
		}
	}
	answer := c.answer(c.routers[0], bson.D{{Key: "listIndexes", Value: "results"}})
	if name := answer.Lookup("cursor", "firstBatch", "1", "name"); name.Type != bson.TypeString {
		t.Errorf("the indexes are %v", answer)
	}
	c.wantOK(out("results"))
	c.wantDocs("results")
	c.wantNames("docs", "results")
}

// TestOutFails: an $out that fails leaves the collection as it was.
func TestOutFails(t *testing.T) {
	c := simulate(t, 1)
	const duplicate, sharded = 11000, 28769
	c.wantOK(out("results", has(1, 1)))
	c.wantCode(duplicate, out("results", has(2, 2), has(2, 3)))
	c.wantDocs("results", has(1, 1))
	c.wantNames("docs", "results")

	c.wantOK(bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: []bson.D{has(1, 1)}}})
	c.wantCode(sharded, out("docs", has(2, 2)))
	c.wantDocs("docs", has(1, 1))
	c.wantNames("docs", "results")
}

// cutOff has the other members of a shard lose sight of its primary.
func (c *simulated) cutOff(shard string) {
	primary := c.cluster.Primary(shard)
	for _, id := range c.cluster.Members(shard) {
		if id != primary {
			c.world.Partition(primary, id, false)
		}
	}
}

// TestOutOverFailover: a primary that is cut off while the results are written, and has them alone,
// does not take some of them along: whatever the write concern, the collection has all or none.
func TestOutOverFailover(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(out("results", has(1, 1)))
	sent := func(is func(env.Message) bool) func(*sim.Message) bool {
		return func(m *sim.Message) bool {
			body, ok := m.Body.(*rpc.Envelope)
			return ok && m.Call && m.From != m.To && is(body.Body)
		}
	}
	inserts := 0
	c.world.AddRule(sim.Rule{Match: sent(func(m env.Message) bool {
		if one, ok := m.(*command.Insert); ok && strings.Contains(one.NS, "agg_out") {
			if inserts++; inserts == 2 { // the first has made the primary read the catalog
				c.cutOff("shard-a")
			}
		}
		return false
	})})
	c.world.AddRule(sim.Rule{Count: 1, Fate: sim.Fate{Delay: 2 * time.Second},
		Match: sent(func(m env.Message) bool {
			_, ok := m.(*command.RenameUnsharded)
			return ok
		})})
	answer := c.answer(c.routers[0], append(out("results", has(2, 2), has(3, 3)),
		bson.E{Key: "writeConcern", Value: bson.D{{Key: "w", Value: 1}}}))
	if answer.Lookup("ok").Double() == 1 {
		c.wantDocs("results", has(2, 2), has(3, 3))
	} else {
		c.wantDocs("results", has(1, 1))
	}
}

// TestOutBesideIndex: an index that is made on the collection while its successor is filled is not
// lost: the $out fails, and leaves the collection as it is.
func TestOutBesideIndex(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(out("results", has(1, 1)))
	renaming := false
	c.world.AddRule(sim.Rule{
		Count: 1, Fate: sim.Fate{Delay: 2 * time.Second},
		Match: func(m *sim.Message) bool {
			body, ok := m.Body.(*rpc.Envelope)
			if ok && m.Call && m.From != m.To {
				_, renaming = body.Body.(*command.RenameUnsharded)
			}
			return renaming
		},
	})
	var answer bson.Raw
	c.ask(c.routers[1], out("results", has(2, 2)), func(doc bson.Raw) { answer = doc })
	c.until("the results are to be renamed", func() bool { return renaming })
	c.wantOK(bson.D{{Key: "createIndexes", Value: "results"}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "key", Value: bson.D{{Key: "x", Value: 1}}}, {Key: "name", Value: "x_1"}},
	}}})
	c.until("the $out is answered", func() bool { return answer != nil })
	if code, _ := answer.Lookup("codeName").StringValueOK(); code != "OperationFailed" {
		t.Errorf("the $out is answered with %v", answer)
	}
	c.wantDocs("results", has(1, 1))
	list := c.answer(c.routers[0], bson.D{{Key: "listIndexes", Value: "results"}})
	if _, err := list.LookupErr("cursor", "firstBatch", "1", "key", "x"); err != nil {
		t.Errorf("the indexes are %v", list)
	}
	c.wantNames("docs", "results")
}
