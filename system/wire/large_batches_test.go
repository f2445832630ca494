package wire_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// most is how many bytes of documents a message may have: a last one is added to less than 16 MiB.
const most = 32 << 20

// largest has the test fail if a message between two nodes has more bytes of documents.
func (c *simulated) largest(documents func(body any) []bson.Raw) {
	c.world.AddRule(sim.Rule{Match: func(m *sim.Message) bool {
		sent, ok := m.Body.(*rpc.Envelope)
		if !ok || m.From == m.To {
			return false
		}
		bytes := 0
		for _, doc := range documents(sent.Body) {
			bytes += len(doc)
		}
		if bytes > most {
			c.Errorf("%s sends %s %d bytes of documents", m.From, m.To, bytes)
		}
		return false
	}})
}

// insertLarge inserts documents of 10 MiB on the first shard.
func (c *simulated) insertLarge(n int) {
	text := bson.E{Key: "s", Value: strings.Repeat("s", 10<<20)}
	for i := range n {
		c.wantOK(bson.D{{Key: "insert", Value: "docs"},
			{Key: "documents", Value: []bson.D{has(i, i, text)}}})
	}
}

// TestLargeBatches: an answer of a shard has no more than a few documents if these are large: one
// that is longer than any message between servers would never come.
func TestLargeBatches(t *testing.T) {
	c := simulate(t, 1)
	const n = 4
	c.insertLarge(n)
	c.largest(func(body any) []bson.Raw {
		if batch, ok := body.(*command.Batch); ok {
			return batch.Docs
		}
		return nil
	})
	c.wantCount(n, "docs", nil)
	found := c.conversation(c.routers[0])
	answer, all := found(bson.D{{Key: "find", Value: "docs"}}), 0
	for batch := "firstBatch"; ; batch = "nextBatch" {
		docs, _ := answer.Lookup("cursor", batch).ArrayOK()
		some, err := docs.Values()
		if err != nil {
			t.Fatalf("%v in %.200v", err, answer)
		}
		all += len(some)
		id, _ := answer.Lookup("cursor", "id").AsInt64OK()
		if id == 0 {
			break
		}
		answer = found(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "docs"}})
	}
	if all != n {
		t.Errorf("%d documents are found, not %d", all, n)
	}
}

// TestLargeChanges: so it is with the answers by which a shard tells what has changed.
func TestLargeChanges(t *testing.T) {
	c := simulate(t, 1)
	const n = 4
	begin := c.answer(c.routers[0], bson.D{{Key: "count", Value: "docs"}}).Lookup("operationTime")
	c.insertLarge(n)
	c.largest(func(body any) (docs []bson.Raw) {
		if read, ok := body.(*command.ChangesRead); ok {
			for i := range read.Changes {
				docs = append(docs, read.Changes[i].Doc)
			}
		}
		return docs
	})
	ask := c.conversation(c.routers[0])
	answer := ask(bson.D{{Key: "aggregate", Value: "docs"}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{
			{Key: "startAtOperationTime", Value: begin}}}}}}})
	all := 0
	for batch, rounds := "firstBatch", 0; all < n && rounds < 3*n; rounds++ {
		docs, _ := answer.Lookup("cursor", batch).ArrayOK()
		some, err := docs.Values()
		if err != nil {
			t.Fatalf("%v in %.200v", err, answer)
		}
		all, batch = all+len(some), "nextBatch"
		answer = ask(bson.D{{Key: "getMore", Value: answer.Lookup("cursor", "id")},
			{Key: "collection", Value: "docs"}})
	}
	if all != n {
		t.Errorf("%d changes are told, not %d", all, n)
	}
}
