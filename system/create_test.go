package system_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// TestCollectionMadeWhileRunning shards a collection in a running cluster, twice, and uses it.
func TestCollectionMadeWhileRunning(t *testing.T) {
	const later = "test.later"
	r := newRig(t, sim.Options{Seed: 1, Codec: codec.BSON}, small, false, 0)
	made := false
	r.world.AddNode("operator", func(task env.Task) {
		ep := rpc.Listen(task.Node(), hlc.New(task.Node()))
		for !r.cluster.Ready() {
			_ = task.Sleep(10 * time.Millisecond)
		}
		config := rpc.NewSet(ep, configsvr.Name, r.cluster.Topology().MembersOf(configsvr.Name),
			r.cluster.Settings())
		for range 2 {
			req := &command.ShardCollection{
				NS:     later,
				Key:    key.Pattern{Field: "k"},
				Bounds: []key.Key{key.Int(5)},
				Shards: []string{"shard-a", "shard-b"},
			}
			if _, err := rpc.CallPrimary[command.Done](task, config, req, time.Minute); err != nil {
				t.Errorf("shardCollection: %v", err)
			}
		}
		made = true
	})
	r.client(func(task env.Task, c *client.Client) {
		for !made {
			_ = task.Sleep(10 * time.Millisecond)
		}
		for k := range int64(10) {
			a := c.Insert(task, command.Insert{
				NS:      later,
				Docs:    []bson.Raw{doc(k, "v")},
				Concern: command.Majority,
			})
			if a.Certainty != client.OK {
				t.Errorf("insert %d: %v %v", k, a.Certainty, a.Err)
			}
		}
		if a := c.Find(task, command.Find{NS: later, Filter: raw(bson.D{})}); len(a.Docs) != 10 {
			t.Errorf("found %v: %v", keys(a.Docs), a.Err)
		}
	})
	r.run(time.Minute)
}

// TestFoundedOnce: what a cluster began with was dropped; a new primary does not make it again, and
// it can be made again.
func TestFoundedOnce(t *testing.T) {
	r := newRig(t, sim.Options{Seed: 1, Codec: codec.BSON}, small, false, 20)
	r.client(func(task env.Task, c *client.Client) {
		if a := c.DropCollection(task, ns, false); a.Certainty != client.OK {
			t.Errorf("drop: %v", a.Err)
		}
		for _, set := range r.cluster.Sets() {
			lost := r.cluster.Primary(set)
			r.world.Crash(lost)
			for !r.cluster.Ready() || r.cluster.Primary(set) == lost {
				_ = task.Sleep(10 * time.Millisecond)
			}
			r.world.Restart(lost)
		}
		op := command.ShardCollection{
			NS:     ns,
			Key:    key.Pattern{Field: "k"},
			Bounds: []key.Key{key.Int(5)},
			Shards: r.cluster.Topology().ShardNames(),
		}
		if a := c.ShardCollection(task, op); a.Certainty != client.OK {
			t.Errorf("shardCollection: %v", a.Err)
		}
		if a := c.Find(task, command.Find{NS: ns, Filter: raw(bson.D{})}); a.Err != nil ||
			len(a.Docs) != 0 {
			t.Errorf("the new collection has %v: %v", keys(a.Docs), a.Err)
		}
	})
	r.run(time.Minute)
}

func TestImpossibleClusters(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	if _, err := assembled(w, 0); err == nil {
		t.Error("a cluster without shards was assembled")
	}
	if _, err := assembled(w, 27); err == nil {
		t.Error("a cluster with more shards than letters was assembled")
	}
	if n := len(w.Nodes()); n > 0 {
		t.Errorf("%d nodes were added for clusters that are not possible", n)
	}
}

func assembled(w *sim.World, shards int) (*system.Cluster, error) {
	s := settings.Default80()
	return system.Assemble(w,
		system.Topology{Shards: shards, Members: 1, ConfigMembers: 1, Routers: 1}, &s)
}
