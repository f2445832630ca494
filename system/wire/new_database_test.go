package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
)

// TestNewDatabase: a router that knows the catalog only by a member of the config server which has
// fallen behind does not take a database that others write to for one that does not exist.
func TestNewDatabase(t *testing.T) {
	one := bson.D{{Key: "_id", Value: 1}}
	linearizable := bson.D{{Key: "level", Value: "linearizable"}}
	for name, cmd := range map[string]bson.D{
		"find": {{Key: "find", Value: "docs"}, {Key: "readConcern", Value: linearizable}},
		"update": {{Key: "update", Value: "docs"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: one}, {Key: "u", Value: bson.D{{Key: "x", Value: 1}}}}}}},
		"delete": {{Key: "delete", Value: "docs"}, {Key: "deletes", Value: bson.A{
			bson.D{{Key: "q", Value: one}, {Key: "limit", Value: 1}}}}},
		"dropDatabase": {{Key: "dropDatabase", Value: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c := simulate(t, 1)
			c.fallBehind(c.routers[0])
			ask := func(router env.NodeID, cmd bson.D) bson.Raw { // the first $db counts
				return c.answer(router, append(cmd, bson.E{Key: "$db", Value: "other"}))
			}
			made := ask(c.routers[0], bson.D{{Key: "insert", Value: "docs"},
				{Key: "documents", Value: bson.A{one}}})
			if n, _ := made.Lookup("n").AsInt64OK(); n != 1 {
				t.Fatalf("the insert was answered with %v", made)
			}
			answer := ask(c.routers[1], cmd)
			n, _ := answer.Lookup("n").AsInt64OK()
			switch name {
			case "find":
				n, _ = answer.Lookup("cursor", "firstBatch", "0", "_id").AsInt64OK()
			case "dropDatabase":
				left := ask(c.routers[0], bson.D{{Key: "count", Value: "docs"}})
				n, _ = left.Lookup("n").AsInt64OK()
				n = 1 - n
			}
			if n != 1 {
				t.Errorf("the database is not there: %v", answer)
			}
		})
	}
}

// fallBehind has the first member of the config server, which a router asks first, hear nothing any
// more but from the other router.
func (c *simulated) fallBehind(router env.NodeID) {
	c.Helper()
	old := c.cluster.Members("config")[0]
	for _, set := range []string{"config", "shard-a", "shard-b"} {
		for _, id := range c.cluster.Members(set) {
			if id != old {
				c.world.Partition(old, id, true)
				c.world.Partition(id, old, true)
			}
		}
	}
	c.world.Partition(router, old, true)
	c.until("another member is primary", func() bool {
		elected := c.cluster.Primary("config")
		return elected != old && elected != "" && c.cluster.Member(elected).IsPrimary()
	})
}
