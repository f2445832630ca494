package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestIndexesAreCounted: the answer to createIndexes says how many indexes there were and are, and
// whether the collection was made for them.
func TestIndexesAreCounted(t *testing.T) {
	index := func(name string) bson.D {
		return bson.D{{Key: "name", Value: name}, {Key: "key", Value: bson.D{{Key: name, Value: 1}}}}
	}
	for coll, makes := range map[string]bool{"docs": false, "plain": true} { // sharded, and not
		c := simulate(t, 1)
		c.wantOK(bson.D{{Key: "create", Value: "more"}})
		for _, step := range []struct {
			indexes       bson.A
			before, after int32
			made          bool
		}{
			{bson.A{index("a")}, 1, 2, makes},
			{bson.A{index("b"), index("c")}, 2, 4, false},
			{bson.A{index("b"), index("d")}, 4, 5, false},
			{bson.A{index("a")}, 5, 5, false},
		} {
			answer := c.answer(c.routers[0],
				bson.D{{Key: "createIndexes", Value: coll}, {Key: "indexes", Value: step.indexes}})
			before, _ := answer.Lookup("numIndexesBefore").Int32OK()
			after, _ := answer.Lookup("numIndexesAfter").Int32OK()
			made, _ := answer.Lookup("createdCollectionAutomatically").BooleanOK()
			if before != step.before || after != step.after || made != step.made {
				t.Errorf("%s: %v was answered with %v", coll, step.indexes, answer)
			}
		}
	}
}
