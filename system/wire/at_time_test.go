package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestAtClusterTime: what is read by another read concern than snapshot is not as of a time, and the
// answer does not say so.
func TestAtClusterTime(t *testing.T) {
	c := simulate(t, 1)
	doc := bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}
	before := c.answer(c.routers[0], bson.D{{Key: "find", Value: "docs"}}).Lookup("operationTime")
	c.answer(c.routers[0], bson.D{{Key: "insert", Value: "docs"},
		{Key: "documents", Value: bson.A{doc}}})
	read := func(level string) bson.Raw {
		return c.answer(c.routers[0], bson.D{{Key: "find", Value: "docs"},
			{Key: "readConcern", Value: bson.D{
				{Key: "level", Value: level}, {Key: "atClusterTime", Value: before}}}})
	}
	for _, level := range []string{"local", "majority", "linearizable", "available"} {
		answer := read(level)
		const invalidOptions = 72
		if n, _ := answer.Lookup("code").AsInt64OK(); n != invalidOptions {
			t.Errorf("a %s read at a time was answered with %v", level, answer)
		}
	}
	if _, err := read("snapshot").LookupErr("cursor", "firstBatch", "0"); err == nil {
		t.Error("the snapshot has a document of later")
	}
}
