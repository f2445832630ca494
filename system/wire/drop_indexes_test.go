package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestDropIndexes: indexes are named by their names or, as shells do, by what they are on.
func TestDropIndexes(t *testing.T) {
	const indexNotFound, invalidOptions = 27, 72
	on := func(field string, order int) bson.D { return bson.D{{Key: field, Value: order}} }
	index := func(name string, keys bson.D) bson.D {
		return bson.D{{Key: "name", Value: name}, {Key: "key", Value: keys}}
	}
	for _, coll := range []string{"more", "plain"} { // sharded, and not
		c := simulate(t, 1)
		c.wantOK(bson.D{{Key: "shardCollection", Value: "test.more"}, {Key: "key", Value: on("k", 1)}})
		c.wantOK(bson.D{{Key: "createIndexes", Value: coll}, {Key: "indexes", Value: bson.A{
			index("a", on("x", 1)), index("b", on("y", -1)), index("c", on("z", 1)),
			index("d", on("v", 1)), index("h", bson.D{{Key: "_id", Value: "hashed"}})}}})
		for _, step := range []struct {
			index any
			code  int32
			left  int
		}{
			{on("y", 1), indexNotFound, 6}, // with that of the _id
			{bson.A{"a", "none"}, indexNotFound, 6},
			{"_id_", invalidOptions, 6},
			{on("_id", 1), invalidOptions, 6},
			{bson.D{{Key: "_id", Value: "hashed"}}, 0, 5},
			{on("y", -1), 0, 4},
			{bson.A{"a", "c"}, 0, 2},
			{"none", indexNotFound, 2},
			{"*", 0, 1},
		} {
			answer := c.answer(c.routers[0],
				bson.D{{Key: "dropIndexes", Value: coll}, {Key: "index", Value: step.index}})
			code, _ := answer.Lookup("code").Int32OK()
			listed := c.answer(c.routers[0], bson.D{{Key: "listIndexes", Value: coll}})
			all, _ := listed.Lookup("cursor", "firstBatch").ArrayOK()
			left, err := all.Values()
			if err != nil || code != step.code || len(left) != step.left {
				t.Errorf("%s: to drop %v was answered with %v, and left %v",
					coll, step.index, answer, left)
			}
		}
	}
}
