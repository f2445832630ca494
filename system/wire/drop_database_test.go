package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestDropDatabaseOnDeposedPrimary: a database that was dropped has no collection of before, also
// not one of which a deposed primary does not know.
func TestDropDatabaseOnDeposedPrimary(t *testing.T) {
	const seeds = 20
	for seed := range uint64(seeds) {
		c := simulate(t, seed+1)
		for _, router := range c.routers {
			c.answer(router, bson.D{{Key: "find", Value: "docs"}})
		}
		old := c.cluster.Primary("shard-a")
		if !c.depose(old, bson.D{{Key: "_id", Value: 2}, {Key: "k", Value: 2}}) {
			continue
		}
		c.cluster.Router(c.routers[1]).ShardSets()["shard-a"].Forget(old)
		c.world.Partition(c.routers[1], old, false)
		made := c.answer(c.routers[1], bson.D{{Key: "insert", Value: "plain"},
			{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}})
		if n, _ := made.Lookup("n").AsInt64OK(); n != 1 {
			t.Fatalf("the insert was answered with %v", made)
		}
		if !c.cluster.Member(old).IsPrimary() {
			continue
		}
		dropped := c.answer(c.routers[0], bson.D{{Key: "dropDatabase", Value: 1}})
		if _, err := dropped.LookupErr("dropped"); err != nil {
			t.Fatalf("dropDatabase was answered with %v", dropped)
		}
		left := c.answer(c.routers[1], bson.D{{Key: "count", Value: "plain"}})
		if n, _ := left.Lookup("n").AsInt64OK(); n != 0 {
			t.Errorf("of the dropped database there are %d documents left", n)
		}
		return
	}
	t.Fatal("every primary knew that it was deposed")
}
