package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestMoveOfEmptyRange: a move whose bounds are the wrong way round, or the same, is not
// acknowledged: nothing would have moved.
func TestMoveOfEmptyRange(t *testing.T) {
	c := simulate(t, 1)
	k := func(v any) bson.D { return bson.D{{Key: "k", Value: v}} }
	for _, bounds := range [][2]any{{8, 3}, {3, 3}, {bson.MaxKey{}, bson.MinKey{}}} {
		min, max := k(bounds[0]), k(bounds[1])
		for _, cmd := range []bson.D{
			{{Key: "moveRange", Value: "test.docs"}, {Key: "toShard", Value: "shard-b"},
				{Key: "min", Value: min}, {Key: "max", Value: max}},
			{{Key: "moveChunk", Value: "test.docs"}, {Key: "to", Value: "shard-b"},
				{Key: "bounds", Value: bson.A{min, max}}},
		} {
			answer := c.answer(c.routers[0], cmd)
			const badValue = 2
			if n, _ := answer.Lookup("code").AsInt64OK(); n != badValue {
				t.Errorf("%v was answered with %v", cmd, answer)
			}
		}
	}
	below := c.answer(c.routers[0], bson.D{{Key: "moveRange", Value: "test.docs"},
		{Key: "toShard", Value: "shard-a"}, {Key: "max", Value: k(bson.MinKey{})}})
	if n, _ := below.Lookup("ok").AsInt64OK(); n != 0 {
		t.Errorf("the move of what is below all keys was answered with %v", below)
	}
}
