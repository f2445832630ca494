package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestAddShardByAnotherName: a shard is called as its replica set is. A request to call it
// otherwise is refused, rather than taken for one about the set that has the name.
func TestAddShardByAnotherName(t *testing.T) {
	c := simulate(t, 1)
	for name, want := range map[string]float64{"shard-b": 0, "shard-a": 1} {
		answer := c.answer(c.routers[0], bson.D{
			{Key: "addShard", Value: "shard-a/host:1"}, {Key: "name", Value: name}})
		if ok, _ := answer.Lookup("ok").DoubleOK(); ok != want {
			t.Errorf("shard-a as %s: %v", name, answer)
		}
	}
}
