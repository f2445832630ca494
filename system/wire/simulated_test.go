package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/dispatch"
	"github.com/shardproof/shardproof/system/wire/failcommand"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/request"
)

// simulated is a cluster whose commands come from no client: the test decides what happens before
// each of them. Collection test.docs is sharded by k, from 10 on on the second shard.
type simulated struct {
	*testing.T
	world   *sim.World
	cluster *system.Cluster
	routers []env.NodeID
}

func simulate(t *testing.T, seed uint64) *simulated {
	t.Helper()
	top := system.Topology{
		Shards: 2, Members: 3, ConfigMembers: 3, Routers: 2, BalancerOff: true,
	}
	s := settings.Default80()
	c := &simulated{T: t, world: sim.New(sim.Options{Seed: seed, Codec: codec.BSON})}
	t.Cleanup(c.world.Close)
	var err error
	if c.cluster, err = system.Assemble(c.world, top, &s, system.Collection{
		NS: "test.docs", Key: key.Pattern{Field: "k"}, Bounds: []key.Key{key.Int(10)},
	}); err != nil {
		t.Fatal(err)
	}
	c.routers = top.RouterNodes()
	c.until("the cluster is ready", c.cluster.Ready)
	return c
}

// until lets time pass.
func (c *simulated) until(what string, holds func() bool) {
	c.Helper()
	c.world.Run(holds, c.world.Now().Add(time.Minute))
	if err := c.world.Err(); err != nil {
		c.Fatal(err)
	}
	if !holds() {
		c.Fatalf("it did not come about that %s", what)
	}
}

// on runs a task of a router's node.
func (c *simulated) on(router env.NodeID, do func(t env.Task)) {
	c.Helper()
	over := false
	c.world.Node(router).Spawn(nil, "test", func(t env.Task) {
		do(t)
		over = true
	})
	c.until("the task of "+string(router)+" ended", func() bool { return over })
}

// answer is a router's answer to a command.
func (c *simulated) answer(router env.NodeID, cmd bson.D) (answer bson.Raw) {
	c.Helper()
	c.ask(router, cmd, func(doc bson.Raw) { answer = doc })
	c.until("the command is answered", func() bool { return answer != nil })
	return answer
}

// ask sends a router a command, and calls answered when there is an answer.
func (c *simulated) ask(router env.NodeID, cmd bson.D, answered func(bson.Raw)) {
	c.Helper()
	req, err := request.Parse(&frame.Message{
		Body: marshal(c.T, append(cmd, bson.E{Key: "$db", Value: "test"}))})
	if err != nil {
		c.Fatal(err)
	}
	served := dispatch.New(c.behind(router), false)
	c.world.Node(router).Spawn(nil, "test", func(t env.Task) {
		answered(marshal(c.T, served.Answer(t, req, failcommand.Fate{})))
	})
}

func (c *simulated) behind(router env.NodeID) *deployment.Deployment {
	return deployment.Behind(c.cluster.Router(router))
}

func marshal(t *testing.T, doc bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// depose has the first shard elect another primary, and writes a document there. It reports whether
// the old one does not know it yet.
func (c *simulated) depose(old env.NodeID, doc bson.D) bool {
	c.Helper()
	members := c.cluster.Members("shard-a")
	for _, id := range members {
		if id != old {
			c.world.Partition(old, id, false)
		}
	}
	var elected env.NodeID
	c.until("another member is primary", func() bool {
		elected = c.cluster.Primary("shard-a")
		return elected != old && c.cluster.Member(elected).IsPrimary()
	})
	c.on(c.routers[1], func(t env.Task) {
		insert := &command.Insert{
			NS: "test.docs", Docs: []bson.Raw{marshal(c.T, doc)}, Concern: command.Majority,
		}
		ep := c.cluster.Router(c.routers[1]).Endpoint()
		if _, err := rpc.Call[command.Written](t, ep, elected, insert, time.Second); err != nil {
			c.Error(err)
		}
	})
	return c.cluster.Member(old).IsPrimary()
}

// deposed is a cluster whose first router takes a deposed primary, which takes itself for one, for
// that of the first shard. The new one has the document.
func deposed(t *testing.T, doc bson.D) *simulated {
	t.Helper()
	const seeds = 20 // the old primary mostly learns of it later than the new one is elected
	for seed := range uint64(seeds) {
		c := simulate(t, seed+1)
		c.answer(c.routers[0], bson.D{{Key: "find", Value: "docs"}}) // by which it knows the old one
		if c.depose(c.cluster.Primary("shard-a"), doc) {
			return c
		}
	}
	t.Fatal("every primary knew that it was deposed")
	return nil
}

// TestSearchOnDeposedPrimary: a statement that fixes no shard key is not acknowledged for what a
// deposed primary does not have.
func TestSearchOnDeposedPrimary(t *testing.T) {
	x := bson.D{{Key: "x", Value: 1}}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "y", Value: 2}}}}
	update := func(multi bool) bson.D {
		return bson.D{{Key: "update", Value: "docs"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: x}, {Key: "u", Value: set}, {Key: "multi", Value: multi}}}}}
	}
	remove := func(limit int) bson.D {
		return bson.D{{Key: "delete", Value: "docs"}, {Key: "deletes", Value: bson.A{
			bson.D{{Key: "q", Value: x}, {Key: "limit", Value: limit}}}}}
	}
	for name, cmd := range map[string]bson.D{
		"updateOne": update(false), "updateMany": update(true),
		"deleteOne": remove(1), "deleteMany": remove(0),
		"findAndModify": {{Key: "findAndModify", Value: "docs"}, {Key: "query", Value: x},
			{Key: "update", Value: set}},
	} {
		t.Run(name, func(t *testing.T) {
			c := deposed(t, bson.D{
				{Key: "_id", Value: 1}, {Key: "k", Value: 1}, {Key: "x", Value: 1}})
			answer := c.answer(c.routers[0], cmd)
			n := answer.Lookup("n")
			if name == "findAndModify" {
				n = answer.Lookup("lastErrorObject", "n")
			}
			if n, _ := n.AsInt64OK(); n != 1 {
				t.Errorf("answered with %v", answer)
			}
		})
	}
}

// TestUpsertsOfShardedCollection: an upsert that fixes no shard key changes what it finds, and is
// refused where it finds nothing.
func TestUpsertsOfShardedCollection(t *testing.T) {
	c := simulate(t, 1)
	upsert := func(x int) bson.Raw {
		c.Helper()
		return c.answer(c.routers[0], bson.D{{Key: "update", Value: "docs"},
			{Key: "updates", Value: bson.A{bson.D{
				{Key: "q", Value: bson.D{{Key: "x", Value: x}}},
				{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "y", Value: 2}}}}},
				{Key: "upsert", Value: true}}}}})
	}
	c.answer(c.routers[0], bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: bson.A{
		bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 20}, {Key: "x", Value: 1}}}}})
	found := upsert(1)
	if n, _ := found.Lookup("nModified").AsInt64OK(); n != 1 {
		t.Errorf("the upsert that finds a document was answered with %v", found)
	}
	missed := upsert(2)
	const shardKeyNotFound = 61
	if n, _ := missed.Lookup("writeErrors", "0", "code").AsInt64OK(); n != shardKeyNotFound {
		t.Errorf("the upsert that finds none was answered with %v", missed)
	}
	count := c.answer(c.routers[0], bson.D{{Key: "count", Value: "docs"}})
	if n, _ := count.Lookup("n").AsInt64OK(); n != 1 {
		t.Errorf("there are %v documents", count)
	}
}

// TestDropSaysWhatItDid: a sharded collection is dropped once, and the answer is that of this one
// time.
func TestDropSaysWhatItDid(t *testing.T) {
	c := simulate(t, 1)
	for i, want := range []int{1, 0} {
		c.on(c.routers[0], func(task env.Task) {
			got, err := c.behind(c.routers[0]).Drop(task, "test.docs")
			if err != nil || got.N != want {
				t.Errorf("drop %d says %+v, %v", i+1, got, err)
			}
		})
	}
}
