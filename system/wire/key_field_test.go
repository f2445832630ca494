package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestKeyField: no collection is sharded by a field that no filter can name; documents in it could
// not be deleted.
func TestKeyField(t *testing.T) {
	c := simulate(t, 1)
	for _, field := range []string{"$k", "a.$k", "k.", ".k", "a..k"} {
		answer := c.answer(c.routers[0], bson.D{{Key: "shardCollection", Value: "test.odd"},
			{Key: "key", Value: bson.D{{Key: field, Value: 1}}}})
		const badValue = 2
		if n, _ := answer.Lookup("code").AsInt64OK(); n != badValue {
			t.Errorf("a collection was sharded by %q: %v", field, answer)
			break
		}
	}
	c.answer(c.routers[0], bson.D{{Key: "insert", Value: "odd"}, {Key: "documents", Value: bson.A{
		bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 1}}}}})
	deleted := c.answer(c.routers[0], bson.D{{Key: "delete", Value: "odd"},
		{Key: "deletes", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "x", Value: 1}}}, {Key: "limit", Value: 0}}}}})
	if n, _ := deleted.Lookup("n").AsInt64OK(); n != 1 {
		t.Errorf("the delete was answered with %v", deleted)
	}
}
