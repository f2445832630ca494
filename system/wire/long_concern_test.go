package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestLongConcern: a write waits for its write concern as long as the client says, and then says
// that it was applied.
func TestLongConcern(t *testing.T) {
	c := simulate(t, 1)
	insert := func(id int) bson.D {
		return bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: bson.A{has(id, 1)}},
			{Key: "writeConcern", Value: bson.D{
				{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: 8000}}}}
	}
	c.wantOK(insert(1))
	c.stall("shard-a")
	answer := c.answer(c.routers[0], insert(2))
	n, _ := answer.Lookup("n").AsInt64OK()
	const writeConcernFailed = 64
	if code, _ := answer.Lookup("writeConcernError", "code").Int32OK(); n != 1 ||
		code != writeConcernFailed {
		t.Errorf("the write was answered with %v", answer)
	}
}
