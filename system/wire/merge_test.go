package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// merge is an aggregate command that merges documents into a collection.
func merge(coll string, args bson.D, docs ...bson.D) bson.D {
	stage := append(bson.D{{Key: "into", Value: coll}}, args...)
	return bson.D{{Key: "aggregate", Value: 1}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$documents", Value: docs}}, bson.D{{Key: "$merge", Value: stage}}}}}
}

// has is a document of the tests: {_id, k}, and more.
func has(id, k any, more ...bson.E) bson.D {
	return append(bson.D{{Key: "_id", Value: id}, {Key: "k", Value: k}}, more...)
}

func (c *simulated) wantOK(cmd bson.D) {
	c.Helper()
	if answer := c.answer(c.routers[0], cmd); answer.Lookup("ok").Double() != 1 {
		c.Fatalf("%v was answered with %v", cmd, answer)
	}
}

func (c *simulated) wantCode(code int32, cmd bson.D) {
	c.Helper()
	answer := c.answer(c.routers[0], cmd)
	if got, _ := answer.Lookup("code").Int32OK(); got != code {
		c.Errorf("%v was answered with %v", cmd, answer)
	}
}

// wantDocs compares all documents of a collection, in the order of their _id.
func (c *simulated) wantDocs(coll string, want ...bson.D) {
	c.Helper()
	answer := c.answer(c.routers[1], bson.D{{Key: "find", Value: coll},
		{Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}}})
	if want == nil {
		want = []bson.D{}
	}
	expected := marshal(c.T, bson.D{{Key: "docs", Value: want}}).Lookup("docs")
	if got := answer.Lookup("cursor", "firstBatch"); !got.Equal(expected) {
		c.Errorf("%s has %v, not %v", coll, got, expected)
	}
}

// TestMergeIntoSharded: a $merge finds the documents of a collection that is sharded by another
// field than _id, on all shards, and adds those that there are not.
func TestMergeIntoSharded(t *testing.T) {
	x := func(n int) bson.E { return bson.E{Key: "x", Value: n} }
	kept := bson.E{Key: "kept", Value: true}
	results := []bson.D{has(1, 1, x(2)), has(2, 20, x(2)), has(3, 30, x(2))}
	for how, want := range map[string][]bson.D{
		"":             {has(1, 1, x(2), kept), has(2, 20, x(2), kept), has(3, 30, x(2))},
		"merge":        {has(1, 1, x(2), kept), has(2, 20, x(2), kept), has(3, 30, x(2))},
		"replace":      {has(1, 1, x(2)), has(2, 20, x(2)), has(3, 30, x(2))},
		"keepExisting": {has(1, 1, x(1), kept), has(2, 20, x(1), kept), has(3, 30, x(2))},
	} {
		t.Run(how, func(t *testing.T) {
			c := simulate(t, 1)
			c.wantOK(bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: []bson.D{
				has(1, 1, x(1), kept), has(2, 20, x(1), kept)}}})
			var args bson.D
			if how != "" {
				args = bson.D{{Key: "whenMatched", Value: how},
					{Key: "whenNotMatched", Value: "insert"},
					{Key: "on", Value: bson.A{"k", "_id"}}}
			}
			for range 2 { // again, all are there
				c.wantOK(merge("docs", args, results...))
				c.wantDocs("docs", want...)
			}
		})
	}
}

// TestMergeByNestedKey: the shard key is found in embedded documents, and by its hash.
func TestMergeByNestedKey(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "shardCollection", Value: "test.deep"},
		{Key: "key", Value: bson.D{{Key: "k.in", Value: "hashed"}}}, {Key: "numInitialChunks", Value: 4}})
	var docs []bson.D
	for i := range 6 {
		docs = append(docs, has(i, bson.D{{Key: "in", Value: i}, {Key: "x", Value: 1}}))
	}
	for range 2 {
		c.wantOK(merge("deep", nil, docs...))
		c.wantDocs("deep", docs...)
	}
}

// TestMergeRefused: a $merge that cannot be carried out as it is meant writes nothing.
func TestMergeRefused(t *testing.T) {
	c := simulate(t, 1)
	const (
		typeMismatch, failedToParse, notSupported = 14, 9, 115
		onNotUnique, onWithoutValues              = 51183, 51132
	)
	one := has(1, 1)
	for _, on := range []any{"_id", "k", "x", bson.A{"_id", "x"}, bson.A{"_id", "k", "x"},
		bson.A{"_id", "_id"}} {
		c.wantCode(onNotUnique, merge("docs", bson.D{{Key: "on", Value: on}}, one))
	}
	c.wantCode(typeMismatch, merge("docs", bson.D{{Key: "on", Value: 1}}, one))
	c.wantCode(failedToParse, merge("docs", bson.D{{Key: "on", Value: bson.A{}}}, one))
	c.wantCode(failedToParse, merge("", nil, one))
	for _, arg := range []bson.E{{Key: "whenMatched", Value: "fail"},
		{Key: "whenMatched", Value: bson.A{}}, {Key: "whenNotMatched", Value: "discard"},
		{Key: "let", Value: bson.D{}}} {
		c.wantCode(notSupported, merge("docs", bson.D{arg}, one))
	}
	for _, doc := range []bson.D{{{Key: "_id", Value: 1}}, has(1, nil), has(1, bson.A{1})} {
		c.wantCode(onWithoutValues, merge("docs", nil, doc))
	}
	c.wantDocs("docs")

	unsharded := bson.D{{Key: "on", Value: bson.A{"_id", "k"}}}
	c.wantCode(onNotUnique, merge("plain", unsharded, one))
	c.wantOK(merge("plain", bson.D{{Key: "on", Value: "_id"}}, one))
	c.wantDocs("plain", one)
}

// TestOutputConcern: that the write concern of results is not satisfied is told by the answer, and
// they are written.
func TestOutputConcern(t *testing.T) {
	concern := bson.E{Key: "writeConcern", Value: bson.D{
		{Key: "w", Value: 3}, {Key: "wtimeout", Value: 100}}}
	for coll, cmd := range map[string]bson.D{
		"docs": merge("docs", nil, has(1, 20)), "results": out("results", has(1, 20)),
	} {
		t.Run(coll, func(t *testing.T) {
			c := simulate(t, 1)
			for _, shard := range []string{"shard-a", "shard-b"} {
				primary, members := c.cluster.Primary(shard), c.cluster.Members(shard)
				behind := members[0]
				if behind == primary {
					behind = members[1]
				}
				for _, other := range members {
					if other != behind {
						c.world.Partition(other, behind, false)
					}
				}
			}
			answer := c.answer(c.routers[0], append(cmd, concern))
			const writeConcernFailed = 64
			code, _ := answer.Lookup("writeConcernError", "code").Int32OK()
			if answer.Lookup("ok").Double() != 1 || code != writeConcernFailed {
				t.Errorf("it was answered with %v", answer)
			}
			c.wantDocs(coll, has(1, 20))
		})
	}
}

// TestMergeOfDottedNames: a field whose name has a dot is not taken for one inside another.
func TestMergeOfDottedNames(t *testing.T) {
	c := simulate(t, 1)
	const commandNotSupported = 115
	dotted := bson.E{Key: "x.y", Value: 1}
	for _, how := range []string{"merge", "keepExisting"} {
		c.wantCode(commandNotSupported,
			merge("results", bson.D{{Key: "whenMatched", Value: how}}, has(1, 1, dotted)))
		c.wantDocs("results")
	}
	c.wantOK(merge("results", bson.D{{Key: "whenMatched", Value: "replace"}}, has(1, 1, dotted)))
	c.wantDocs("results", has(1, 1, dotted))
}
