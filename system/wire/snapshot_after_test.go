package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestSnapshotAfter: a snapshot that is to show what its client knows, from a router that has not
// heard of that time, is not one of before.
func TestSnapshotAfter(t *testing.T) {
	c := simulate(t, 1)
	insert := func(id int) {
		c.wantOK(bson.D{{Key: "insert", Value: "docs"},
			{Key: "documents", Value: bson.A{has(id, id)}}})
	}
	insert(1)
	c.answer(c.routers[1], bson.D{{Key: "find", Value: "docs"}}) // the newest that it hears
	insert(2)
	time := c.answer(c.routers[0], bson.D{{Key: "find", Value: "docs"}}).Lookup("operationTime")
	read := c.answer(c.routers[1], bson.D{{Key: "find", Value: "docs"},
		{Key: "readConcern", Value: bson.D{
			{Key: "level", Value: "snapshot"}, {Key: "afterClusterTime", Value: time}}}})
	if _, err := read.LookupErr("cursor", "firstBatch", "1"); err != nil {
		t.Errorf("the snapshot after %v is %v", time, read)
	}
}
