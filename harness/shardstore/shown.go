package shardstore

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// Exchanged has the oracle judge whose documents an answer to a query has, and whether what a shard
// says that it has done will last. Routers return what shards have returned to them.
func (c *cluster) Exchanged(x *env.Exchange) {
	if !x.Served {
		return
	}
	asked, _ := x.Request.(*rpc.Envelope)
	said, _ := x.Reply.(*rpc.Envelope)
	if asked == nil {
		return
	}
	if err := refusal(x.Err, said); err != nil || said == nil {
		c.refusedWrite(x, asked.Body, err)
		return
	}
	c.lastingAnswer(x, asked)
	c.servedAnswer(x, asked.Body)
	if req, ok := asked.Body.(*command.ShardsvrParticipate); ok {
		c.oracle.StepTaken(setOf(x.To), stepOf(req))
	}
	c.catalogAnswer(x, asked, said.Body)
	batch, ok := said.Body.(*command.Batch)
	if !ok || strings.HasPrefix(string(x.To), "router") {
		return
	}
	q, unknown := c.admitted(x.To, asked.Body, batch)
	if unknown != "" {
		c.oracle.NotJudged(unknown, len(batch.Docs))
		return
	}
	c.oracle.Returned(&q, c.keysOf(q.NS, batch.Docs)...)
}

// asking is a query that a shard has let in, or why it says nothing about owners.
type asking struct {
	query   oracle.Admitted
	unknown string
}

// admitted is the query that an answer is of, or why it may return what its shard does not own.
func (c *cluster) admitted(
	node env.NodeID, asked env.Message, batch *command.Batch,
) (q oracle.Admitted, unknown string) {
	a := asking{unknown: oracle.OtherRead}
	switch req := asked.(type) {
	case *command.Find:
		a = askingOf(node, req)
		if batch.Cursor != "" {
			c.queries[batch.Cursor] = a
		}
	case *command.GetMore:
		if of, ok := c.queries[req.Cursor]; ok {
			a = of
		}
		if batch.Cursor == "" {
			delete(c.queries, req.Cursor)
		}
	}
	return a.query, a.unknown
}

func askingOf(node env.NodeID, req *command.Find) asking {
	switch {
	case req.Concern == command.Available:
		return asking{unknown: oracle.AvailableRead}
	case !req.Place.Versioned || req.Place.Database:
		return asking{unknown: oracle.UnshardedRead}
	}
	shard, _, _ := strings.Cut(string(node), ".")
	v := req.Place.Shard
	q := oracle.Admitted{
		Node: string(node), Shard: shard, NS: req.NS,
		Version: trace.Chunk{Epoch: v.Epoch, Major: v.Major},
	}
	if req.Concern == command.Snapshot {
		q.At = uint64(req.At)
	}
	return asking{query: q}
}

// keysOf are the documents' shard keys, encoded.
func (c *cluster) keysOf(ns string, docs []bson.Raw) []string {
	i := slices.IndexFunc(c.scenario.Collections, func(one scenario.Collection) bool {
		return one.NS == ns
	})
	if i < 0 {
		return nil
	}
	pattern, keys := shardKey(c.scenario.Collections[i]), make([]string, len(docs))
	if pattern.IsZero() {
		pattern = shardedBy(c.scenario.Collections[i])
	}
	for j, doc := range docs {
		k, err := pattern.Of(doc)
		if err != nil {
			panic(fmt.Sprintf("shardstore: the document %s has no key: %v", doc, err))
		}
		keys[j] = string(k)
	}
	return keys
}
