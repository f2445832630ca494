package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestStatusByDeposedConfigPrimary: the config server's primary does not deny a collection by what
// it knew before it was deposed.
func TestStatusByDeposedConfigPrimary(t *testing.T) {
	const seeds = 20
	status := bson.D{{Key: "balancerCollectionStatus", Value: "test.later"}}
	for seed := range uint64(seeds) {
		c := simulate(t, seed+1)
		for _, router := range c.routers {
			c.answer(router, status) // by which it knows the primary
		}
		old := c.cluster.Primary("config")
		for _, id := range c.cluster.Members("config") {
			if id != old {
				c.world.Partition(old, id, false)
			}
		}
		c.until("another member is primary", func() bool {
			elected := c.cluster.Primary("config")
			return elected != old && elected != "" && c.cluster.Member(elected).IsPrimary()
		})
		c.cluster.Router(c.routers[1]).ConfigSet().Forget(old)
		for _, shard := range []string{"shard-a", "shard-b"} {
			for _, id := range c.cluster.Members(shard) {
				c.world.Partition(old, id, false)
			}
		}
		c.world.Partition(c.routers[1], old, false)
		made := c.answer(c.routers[1], bson.D{{Key: "shardCollection", Value: "test.later"},
			{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
		if _, err := made.LookupErr("collectionsharded"); err != nil {
			t.Fatalf("shardCollection was answered with %v", made)
		}
		if !c.cluster.Member(old).IsPrimary() {
			continue
		}
		denied := c.answer(c.routers[0], status)
		const namespaceNotFound = 26
		if n, _ := denied.Lookup("code").AsInt64OK(); n == namespaceNotFound {
			t.Errorf("the collection is denied: %v", denied)
		}
		return
	}
	t.Fatal("every primary knew that it was deposed")
}
