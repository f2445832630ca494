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
				asked, answer := c.move(append(cmd,
					bson.E{Key: waits, Value: true}, bson.E{Key: "forceJumbo", Value: true}))
				if asked == nil || !asked.WaitDelete || asked.ForceJumbo != command.ForceManual {
					t.Errorf("the donor was asked for %+v; the answer was %v", asked, answer)
				}
			})
		}
	}
}

// move is what the donor is asked for by a command that moves a range, and the command's answer.
func (c *simulated) move(cmd bson.D) (asked *command.ShardsvrMoveRange, answer bson.Raw) {
	c.Helper()
	c.world.AddRule(sim.Rule{Match: func(m *sim.Message) bool {
		if sent, ok := m.Body.(*rpc.Envelope); ok && m.Call {
			if move, ok := sent.Body.(*command.ShardsvrMoveRange); ok {
				asked = move
			}
		}
		return false
	}})
	answer = c.answer(c.routers[0], cmd)
	return asked, answer
}

// TestThrottleOfMoves: the recipient waits after each batch for as many members as the operator
// says.
func TestThrottleOfMoves(t *testing.T) {
	throttled := bson.E{Key: "secondaryThrottle", Value: true}
	concern := func(w any) bson.E {
		return bson.E{Key: "writeConcern", Value: bson.D{{Key: "w", Value: w}}}
	}
	for name, c := range map[string]struct {
		more bson.D
		want command.WriteConcern
	}{
		"not at all":    {nil, command.WriteConcern{}},
		"not throttled": {bson.D{concern("majority")}, command.WriteConcern{}},
		"a secondary":   {bson.D{throttled}, command.WriteConcern{W: 2}},
		"by its other name": {
			bson.D{{Key: "_secondaryThrottle", Value: true}}, command.WriteConcern{W: 2},
		},
		"three members": {bson.D{throttled, concern(3)}, command.WriteConcern{W: 3}},
		"a majority":    {bson.D{throttled, concern("majority")}, command.Majority},
	} {
		t.Run(name, func(t *testing.T) {
			asked, answer := simulate(t, 1).move(append(bson.D{
				{Key: "moveRange", Value: "test.docs"}, {Key: "toShard", Value: "shard-b"},
				{Key: "min", Value: bson.D{{Key: "k", Value: 5}}},
				{Key: "max", Value: bson.D{{Key: "k", Value: 10}}}}, c.more...))
			if asked == nil || asked.Throttle != c.want {
				t.Errorf("the donor was asked for %+v; the answer was %v", asked, answer)
			}
		})
	}
}
