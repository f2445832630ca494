package system_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

const ns = "test.docs"

// observers counts events by kind.
type counts map[trace.Kind]int

func (c counts) Observe(e *trace.Event) { c[e.Kind]++ }

// rig is a small cluster with clients that run a function each.
type rig struct {
	t       *testing.T
	world   *sim.World
	cluster *system.Cluster
	seen    counts
	running int
	clients int
}

func newRig(t *testing.T, opts sim.Options, top system.Topology, hashed bool, preload int) *rig {
	t.Helper()
	r := &rig{t: t, seen: counts{}}
	opts.Observer = r.seen
	r.world = sim.New(opts)
	t.Cleanup(r.world.Close)
	s := settings.Default80()
	coll := system.Collection{
		NS:     ns,
		Key:    key.Pattern{Field: "k", Hashed: hashed},
		Bounds: []key.Key{key.Int(10), key.Int(20), key.Int(30)},
	}
	for k := range preload {
		coll.Docs = append(coll.Docs, doc(int64(k), "first"))
	}
	var err error
	if r.cluster, err = system.Assemble(r.world, top, &s, coll); err != nil {
		t.Fatal(err)
	}
	return r
}

// client adds a client that starts when the cluster is ready.
func (r *rig) client(fn func(t env.Task, c *client.Client)) {
	id := env.NodeID(fmt.Sprintf("client.%d", r.clients))
	r.clients++
	r.running++
	r.world.AddNode(id, func(t env.Task) {
		c := r.cluster.NewClient(t.Node())
		for !r.cluster.Ready() {
			if t.Sleep(10*time.Millisecond) != nil {
				return
			}
		}
		fn(t, c)
		r.running--
	})
}

// run runs until all clients are done.
func (r *rig) run(limit time.Duration) {
	r.t.Helper()
	why := r.world.Run(func() bool { return r.running == 0 }, r.world.Now().Add(limit))
	if err := r.world.Err(); err != nil {
		r.t.Fatal(err)
	}
	if r.running > 0 {
		r.t.Fatalf("%d clients are not done after %v: %v\noutstanding: %q\ntasks: %v",
			r.running, limit, why, r.cluster.Outstanding(), r.world.Tasks())
	}
}

func doc(k int64, v string) bson.Raw {
	return raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}, {Key: "v", Value: v}})
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

func keys(docs []bson.Raw) (ks []int64) {
	for _, d := range docs {
		ks = append(ks, d.Lookup("k").Int64())
	}
	return ks
}

var small = system.Topology{
	Shards: 2, Members: 3, ConfigMembers: 3, Routers: 2, BalancerOff: true,
}

func TestClusterServesReadsAndWrites(t *testing.T) {
	for _, hashed := range []bool{false, true} {
		t.Run(fmt.Sprintf("hashed=%t", hashed), func(t *testing.T) {
			r := newRig(t, sim.Options{Seed: 1, Codec: codec.BSON}, small, hashed, 20)
			r.client(func(task env.Task, c *client.Client) { serves(t, task, c, hashed) })
			r.run(time.Minute)
			if r.seen[trace.CatalogWritten] == 0 || r.seen[trace.Applied] < 40 {
				t.Errorf("events seen: %v", r.seen)
			}
		})
	}
}

func serves(t *testing.T, task env.Task, c *client.Client, hashed bool) {
	for k := int64(20); k < 40; k++ {
		a := c.Insert(task, command.Insert{
			NS:      ns,
			Docs:    []bson.Raw{doc(k, "new")},
			Concern: command.Majority,
		})
		if a.Certainty != client.OK {
			t.Errorf("insert %d: %v %v", k, a.Certainty, a.Err)
		}
	}
	for k := int64(0); k < 40; k++ {
		a := c.Find(task, command.Find{
			NS:      ns,
			Filter:  raw(bson.D{{Key: "k", Value: k}}),
			Concern: command.Linearizable,
		})
		if a.Certainty != client.OK || len(a.Docs) != 1 {
			t.Errorf("find %d: %v %v %v", k, a.Certainty, a.Docs, a.Err)
		}
	}
	if a := c.Insert(
		task, command.Insert{NS: ns, Docs: []bson.Raw{doc(3, "again")}, Concern: command.Majority},
	); a.Certainty != client.Failed {
		t.Errorf("a second insert of 3: %v %v", a.Certainty, a.Err)
	}
	var batches int
	var all []bson.Raw
	a := c.Scan(task, command.Find{NS: ns,
		Filter: raw(bson.D{{
			Key:   "k",
			Value: bson.D{{Key: "$gte", Value: int64(5)}, {Key: "$lt", Value: int64(35)}},
		}}),
		BatchSize: 4,
		Concern:   command.MajorityRead}, 0, func(batch []bson.Raw) {
		batches++
		all = append(all, batch...)
	})
	if a.Certainty != client.OK || len(all) != 30 || batches < 8 {
		t.Errorf("scan: %v, %d batches with %v: %v", a.Certainty, batches, keys(all), a.Err)
	}
	for i, k := range keys(all) {
		if !hashed && k != int64(5+i) {
			t.Errorf("scan is out of order: %v", keys(all))
			break
		}
	}
	up := c.FindAndModify(task,
		command.FindAndModify{NS: ns,
			Filter:  raw(bson.D{{Key: "k", Value: int64(7)}}),
			Change:  raw(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: "changed"}}}}),
			Concern: command.Majority})
	if up.Certainty != client.OK || up.Written.Image.Lookup("v").StringValue() != "first" {
		t.Errorf("findAndModify: %+v", up)
	}
	del := c.Delete(task, command.Delete{
		NS:      ns,
		Filter:  raw(bson.D{{Key: "k", Value: int64(8)}}),
		Concern: command.Majority,
	})
	if del.Written.N != 1 {
		t.Errorf("delete: %+v", del)
	}
}

// A process that has only just been started is not the one that led before.
func TestRestartedMemberIsNotReady(t *testing.T) {
	r := newRig(t, sim.Options{Seed: 1}, small, false, 0)
	r.world.Run(r.cluster.Ready, env.Time(time.Minute))
	primary := r.cluster.Primary("shard-a")
	if r.cluster.Member(primary) == nil {
		t.Fatal("the cluster did not start within a minute")
	}
	r.world.Crash(primary)
	r.world.Restart(primary)
	if r.cluster.Member(primary) != nil || r.cluster.Ready() {
		t.Error("the primary's next process counts as ready before it has booted")
	}
}
