package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestStreamFromTimeToCome: a change stream that is to begin at a time that has not come yet, as
// when its token is from a router whose clock is ahead, follows what moves until then.
func TestStreamFromTimeToCome(t *testing.T) {
	c := simulate(t, 1)
	ask := c.conversation(c.routers[0])
	c.wantOK(bson.D{{Key: "shardCollection", Value: "test.more"},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
	const ahead = 5
	from := uint32(time.Duration(c.world.Now())/time.Second) + ahead
	opened := ask(bson.D{{Key: "aggregate", Value: "more"}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{
			{Key: "startAtOperationTime", Value: bson.Timestamp{T: from}}}}}}}})
	cursor, ok := opened.Lookup("cursor", "id").AsInt64OK()
	if !ok {
		t.Fatalf("the stream was opened with %v", opened)
	}
	insert := func(id int) {
		c.wantOK(bson.D{{Key: "insert", Value: "more"}, {Key: "documents", Value: bson.A{
			bson.D{{Key: "_id", Value: id}, {Key: "k", Value: 1}}}}})
	}
	insert(1)
	for _, to := range []string{"shard-a", "shard-b"} { // it is on one of them
		c.wantOK(bson.D{{Key: "moveRange", Value: "test.more"}, {Key: "toShard", Value: to},
			{Key: "min", Value: bson.D{{Key: "k", Value: bson.MinKey{}}}}})
	}
	if now := time.Duration(c.world.Now()) / time.Second; uint32(now) >= from {
		t.Fatalf("the range has moved after %d seconds only", now)
	}
	c.world.Run(func() bool { return false }, c.world.Now().Add((ahead+1)*time.Second))
	insert(2)
	more := ask(bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: "more"}})
	id, _ := more.Lookup("cursor", "nextBatch", "0", "fullDocument", "_id").AsInt64OK()
	if id != 2 {
		t.Errorf("the stream goes on with %v", more)
	}
}
