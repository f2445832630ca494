package shard

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// TestTimeOfAConcern: a write that writes nothing waits no longer for its write concern than one
// that does, and its result is told all the same: be it a retry, or about a document that is
// already as it asks for. Only a refusal has no result.
func TestTimeOfAConcern(t *testing.T) {
	const patience = 100 * time.Millisecond
	w := newTestCluster(3, sim.Options{Seed: 1})
	t.Cleanup(w.world.Close)
	w.create()
	to := w.primary().Node().ID()
	concern := command.WriteConcern{Majority: true, Timeout: patience}
	filter := must(bson.Marshal(bson.D{{Key: "k", Value: 1}}))
	set := must(bson.Marshal(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: "a"}}}}))
	insert := &command.Insert{
		NS: testNS, Docs: []bson.Raw{testDoc(1, "a")}, Concern: concern,
		Session: command.Session{ID: "s", Txn: 1},
	}
	ask := func(req env.Message) (w2 *command.Written, took time.Duration, failed error) {
		began := w.world.Now()
		w.run(time.Minute, w.on("client.0", "ask", func(t env.Task) {
			w2, failed = rpc.Call[command.Written](t, w.client, to, req, 0)
		}))
		return w2, w.world.Now().Sub(began), failed
	}
	if _, _, err := ask(insert); err != nil {
		t.Fatal(err)
	}
	w.isolate()
	for about, req := range map[string]env.Message{
		"a retry": insert,
		"no change": &command.Update{
			NS: testNS, Filter: filter, Change: set, Concern: concern,
		},
	} {
		got, took, err := ask(req)
		if err != nil || got.N != 1 || got.ConcernError == "" || took > 2*patience {
			t.Errorf("%s is answered after %v with %+v, %v", about, took, got, err)
		}
	}
	again := *insert
	again.Session = command.Session{}
	if _, took, err := ask(&again); !errcode.Is(err, errcode.ExceededTimeLimit) ||
		took > 2*patience {
		t.Errorf("a refusal is answered after %v with %v", took, err)
	}
}
