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

// Exchanged has the oracle judge whose documents an answer to a query has. Routers return what
// shards have returned to them.
func (c *cluster) Exchanged(x *env.Exchange) {
	if !x.Served || x.Err != nil {
		return
	}
	asked, _ := x.Request.(*rpc.Envelope)
	said, _ := x.Reply.(*rpc.Envelope)
	if asked == nil || said == nil || said.Err != nil {
		return
	}
	batch, ok := said.Body.(*command.Batch)
	if !ok || strings.HasPrefix(string(x.To), "router") {
		return
	}
	if q := c.admitted(x.To, asked.Body, batch); q != nil {
		c.oracle.Returned(q, c.keysOf(q.NS, batch.Docs)...)
	} else {
		c.oracle.ReturnedByAnybody(len(batch.Docs))
	}
}

// admitted is the query that an answer is of; nil when it was let in whatever the shard owns, or by
// what it owned at another time.
func (c *cluster) admitted(
	node env.NodeID, asked env.Message, batch *command.Batch,
) *oracle.Admitted {
	switch req := asked.(type) {
	case *command.Find:
		if !keeps(req) || req.Place.Database {
			return nil
		}
		shard, _, _ := strings.Cut(string(node), ".")
		v := req.Place.Shard
		q := &oracle.Admitted{
			Node: string(node), Shard: shard, NS: req.NS,
			Version: trace.Chunk{Epoch: v.Epoch, Major: v.Major},
		}
		if batch.Cursor != "" {
			c.queries[batch.Cursor] = q
		}
		return q
	case *command.GetMore:
		q := c.queries[req.Cursor]
		if batch.Cursor == "" {
			delete(c.queries, req.Cursor)
		}
		return q
	}
	return nil
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
	for j, doc := range docs {
		k, err := pattern.Of(doc)
		if err != nil {
			panic(fmt.Sprintf("shardstore: the document %s has no key: %v", doc, err))
		}
		keys[j] = string(k)
	}
	return keys
}
