package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestClusterTimeIsInSeconds: clients know cluster time in seconds, and may name a time by a clock:
// a change stream that is to begin a second ago shows what was written since.
func TestClusterTimeIsInSeconds(t *testing.T) {
	c := simulate(t, 1)
	const before = 100
	wait := func(seconds int) {
		end := c.world.Now().Add(time.Duration(seconds) * time.Second)
		c.world.Run(func() bool { return false }, end)
	}
	wait(before)
	now := uint32(time.Duration(c.world.Now()) / time.Second)
	insert := c.answer(c.routers[0], bson.D{{Key: "insert", Value: "docs"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}}}})
	if at, _, _ := insert.Lookup("operationTime").TimestampOK(); at < now || at > now+1 {
		t.Errorf("what happened in second %d has the time %v", now, insert.Lookup("operationTime"))
	}
	opened := c.answer(c.routers[0], bson.D{{Key: "aggregate", Value: "docs"},
		{Key: "cursor", Value: bson.D{}}, {Key: "pipeline", Value: bson.A{bson.D{
			{Key: "$changeStream", Value: bson.D{
				{Key: "startAtOperationTime", Value: bson.Timestamp{T: now - 1}}}}}}}})
	batch, _ := opened.Lookup("cursor", "firstBatch").ArrayOK()
	if all, err := batch.Values(); len(all) != 1 || err != nil {
		t.Errorf("the stream from a second ago begins with %v", opened)
	}
}
