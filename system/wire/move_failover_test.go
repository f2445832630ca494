package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestMoveOverFailover: a move by an operator is answered when it has ended, also if a primary that
// it depends on ends meanwhile.
func TestMoveOverFailover(t *testing.T) {
	bounds := bson.A{bson.D{{Key: "k", Value: bson.MinKey{}}}, bson.D{{Key: "k", Value: 10}}}
	for _, move := range []struct {
		set string // whose primary ends
		cmd bson.D
	}{
		{"config", bson.D{{Key: "moveChunk", Value: "test.docs"}, {Key: "bounds", Value: bounds},
			{Key: "to", Value: "shard-b"}}},
		{"config", bson.D{{Key: "moveRange", Value: "test.docs"}, {Key: "toShard", Value: "shard-b"},
			{Key: "min", Value: bounds[0]}}},
		{"shard-a", bson.D{{Key: "movePrimary", Value: "test"}, {Key: "to", Value: "shard-b"}}},
	} {
		c := simulate(t, 1)
		c.wantOK(bson.D{{Key: "create", Value: "plain"}})
		from, to := c.cluster.Members("shard-a"), c.cluster.Members("shard-b")
		for _, a := range from {
			for _, b := range to {
				c.world.Partition(a, b, false)
			}
		}
		var answer bson.Raw
		c.ask(c.routers[0], move.cmd, func(doc bson.Raw) { answer = doc })
		c.pass(2 * time.Second)
		old := c.cluster.Primary(move.set)
		c.world.Crash(old)
		c.pass(5 * time.Second)
		c.world.Restart(old)
		for _, a := range from {
			for _, b := range to {
				c.world.Heal(a, b, false)
			}
		}
		c.until("the move is answered", func() bool { return answer != nil })
		if !isOK(answer) {
			t.Errorf("%v was answered with %v", move.cmd, answer)
		}
	}
}

// TestOrdersOverFailover: what an operator asks for just after the config server has got another
// primary is done by that.
func TestOrdersOverFailover(t *testing.T) {
	c := simulate(t, 1)
	for _, cmd := range []bson.D{
		{{Key: "addShardToZone", Value: "shard-a"}, {Key: "zone", Value: "east"}},
		{{Key: "enableSharding", Value: "more"}},
		{{Key: "balancerStart", Value: 1}},
		{{Key: "removeShard", Value: "shard-b"}},
	} {
		c.wantOK(bson.D{{Key: "balancerStatus", Value: 1}})
		old := c.cluster.Primary("config")
		c.wantOK(bson.D{{Key: "replSetStepDown", Value: 60}, {Key: "shard", Value: "config"}})
		c.until("another one leads", func() bool {
			now := c.cluster.Primary("config")
			return now != "" && now != old
		})
		c.wantOK(cmd)
	}
}
