package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// TestArgumentsOfMoves: the donor is told to wait for its deletion, and to move what is too big, if
// the operator says so, by either of the names that versions have for it.
func TestArgumentsOfMoves(t *testing.T) {
	for _, waits := range []string{"waitForDelete", "_waitForDelete"} {
		for name, cmd := range map[string]bson.D{
			"moveRange": {{Key: "moveRange", Value: "test.docs"}, {Key: "toShard", Value: "shard-b"},
				{Key: "min", Value: bson.D{{Key: "k", Value: 5}}},
				{Key: "max", Value: bson.D{{Key: "k", Value: 10}}}},
			"moveChunk": {{Key: "moveChunk", Value: "test.docs"}, {Key: "to", Value: "shard-b"},
				{Key: "find", Value: bson.D{{Key: "k", Value: 5}}}},
		} {
			t.Run(name+" "+waits, func(t *testing.T) {
				c := simulate(t, 1)
				var asked *command.ShardsvrMoveRange
				c.world.AddRule(sim.Rule{Match: func(m *sim.Message) bool {
					if sent, ok := m.Body.(*rpc.Envelope); ok && m.Call {
						if move, ok := sent.Body.(*command.ShardsvrMoveRange); ok {
							asked = move
						}
					}
					return false
				}})
				answer := c.answer(c.routers[0], append(cmd,
					bson.E{Key: waits, Value: true}, bson.E{Key: "forceJumbo", Value: true}))
				if asked == nil || !asked.WaitDelete || asked.ForceJumbo != command.ForceManual {
					t.Errorf("the donor was asked for %+v; the answer was %v", asked, answer)
				}
			})
		}
	}
}
