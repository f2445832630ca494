package wire_test

import (
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/sim"
)

// stall has the members of a shard answer their primary, and write nothing.
func (c *simulated) stall(shard string) {
	c.world.AddRule(sim.Rule{
		From: string(c.cluster.Primary(shard)), To: shard + ".*", Fate: sim.Fate{Drop: true},
		Match: func(m *sim.Message) bool {
			sent, ok := m.Body.(*replset.Raft)
			return ok && sent.Type == raftpb.MsgApp
		},
	})
}

// TestUnreplicated: a change of a whole collection that no majority has, and that may be undone, is
// not acknowledged as one that lasts.
func TestUnreplicated(t *testing.T) {
	index := func(name string) bson.E {
		return bson.E{Key: "indexes", Value: bson.A{bson.D{
			{Key: "name", Value: name}, {Key: "key", Value: bson.D{{Key: "x", Value: 1}}}}}}
	}
	for _, cmd := range []bson.D{
		{{Key: "create", Value: "more"}},
		{{Key: "drop", Value: "plain"}},
		{{Key: "dropDatabase", Value: 1}},
		{{Key: "renameCollection", Value: "test.plain"}, {Key: "to", Value: "test.more"}},
		{{Key: "createIndexes", Value: "plain"}, index("b")},
		{{Key: "dropIndexes", Value: "plain"}, {Key: "index", Value: "a"}},
	} {
		t.Run(cmd[0].Key, func(t *testing.T) {
			c := simulate(t, 1)
			if cmd[0].Key == "dropDatabase" { // which would wait for the end of a sharded one
				c.wantOK(bson.D{{Key: "drop", Value: "docs"}})
			}
			c.wantOK(bson.D{{Key: "createIndexes", Value: "plain"}, index("a")})
			c.stall("shard-a")
			c.cluster.SettingsOf(c.cluster.Primary("shard-a")).WriteConcernTimeout = time.Second
			answer := c.answer(c.routers[0], cmd)
			const writeConcernFailed = 64
			code, _ := answer.Lookup("writeConcernError", "code").Int32OK()
			if code != writeConcernFailed {
				t.Errorf("%v was answered with %v", cmd, answer)
			}
		})
	}
}
