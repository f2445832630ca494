package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestIndexConflict: an index is not acknowledged while another one has its name, and that one
// stays; the same index again is.
func TestIndexConflict(t *testing.T) {
	c := simulate(t, 1)
	c.answer(c.routers[0], bson.D{{Key: "shardCollection", Value: "test.sharded"},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
	for _, coll := range []string{"sharded", "plain"} {
		create := func(field string, order any) bson.Raw {
			t.Helper()
			keys := bson.D{{Key: field, Value: order}}
			return c.answer(c.routers[0], bson.D{{Key: "createIndexes", Value: coll},
				{Key: "indexes", Value: bson.A{
					bson.D{{Key: "name", Value: "mine"}, {Key: "key", Value: keys}}}}})
		}
		for _, order := range []any{1, int64(1), 1.0} {
			answer := create("a", order)
			if ok, _ := answer.Lookup("ok").DoubleOK(); ok != 1 {
				t.Errorf("the index of %s was answered with %v", coll, answer)
			}
		}
		other := create("b", 1)
		const indexKeySpecsConflict = 86
		if n, _ := other.Lookup("code").AsInt64OK(); n != indexKeySpecsConflict {
			t.Errorf("another index of %s was answered with %v", coll, other)
		}
		list := c.answer(c.routers[0], bson.D{{Key: "listIndexes", Value: coll}})
		if _, err := list.LookupErr("cursor", "firstBatch", "1", "key", "a"); err != nil {
			t.Errorf("the indexes of %s are %v", coll, list)
		}
	}
}
