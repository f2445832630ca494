package moveprimary_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/clock"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/status"
	"github.com/shardproof/shardproof/system/store"
)

// The database test has a sharded collection, which stays, and two that are not.
const sharded, plain, notes = "test.docs", "test.plain", "test.notes"

// rig is a cluster, an operator who moves the primary and writes, and a plan of what goes wrong.
type rig struct {
	t        *testing.T
	out      strings.Builder
	world    *sim.World
	cluster  *system.Cluster
	settings settings.Settings
	faults   []*fault
	down     map[env.NodeID]bool
	held     sim.RuleID
	operator operator
}

type fault struct {
	site      point.Site
	nth, seen int
	set, do   string
}

// operator is a node from which commands are sent.
type operator struct {
	errands []func(t env.Task)
	busy    int
	ep      *rpc.Endpoint
}

func (r *rig) close() {
	if r.world != nil {
		r.world.Close()
	}
}

// found assembles two shards whose unsharded collections are on shard-a.
func (r *rig) found(docs int) error {
	r.close()
	r.down, r.faults, r.operator = map[env.NodeID]bool{}, nil, operator{}
	r.settings = settings.Default80()
	r.settings.RetryBackoff, r.settings.CloneBatchDocs = 50*time.Millisecond, 2
	r.world = sim.New(sim.Options{Seed: 1, Codec: codec.BSON, Observer: r, OnPoint: r.onPoint})
	colls := []system.Collection{{NS: sharded, Key: key.Pattern{Field: "k"}, Bounds: []key.Key{key.Int(1)}}, {NS: plain}, {NS: notes}}
	for k := range docs {
		colls[k%3].Docs = append(colls[k%3].Docs, doc(int64(k), "old"))
	}
	var err error
	top := system.Topology{Shards: 2, Members: 3, ConfigMembers: 3, Routers: 1, Clients: 1}
	if r.cluster, err = system.Assemble(r.world, top, &r.settings, colls...); err != nil {
		return err
	}
	r.world.AddNode(top.ClientNodes()[0], r.bootOperator)
	return r.until(10*time.Second, "the cluster is ready", r.cluster.Ready)
}

func (r *rig) bootOperator(t env.Task) {
	o := &r.operator
	for o.ep = rpc.Listen(t.Node(), clock.New(t.Node())); t.Sleep(time.Millisecond) == nil; {
		for len(o.errands) > 0 {
			next := o.errands[0]
			o.errands = o.errands[1:]
			t.Node().Spawn(nil, "command", func(t env.Task) {
				next(t)
				o.busy--
			})
		}
	}
}

func (o *operator) send(fn func(t env.Task)) {
	o.busy++
	o.errands = append(o.errands, fn)
}

// until runs the world until the condition holds.
func (r *rig) until(limit time.Duration, what string, cond func() bool) error {
	why := r.world.Run(cond, r.world.Now().Add(limit))
	if err := r.world.Err(); err != nil {
		return err
	}
	if !cond() {
		return fmt.Errorf("not so after %v (%v): %s\noutstanding: %q\ntasks: %v", limit, why, what, r.cluster.Outstanding(), r.world.Tasks())
	}
	return nil
}

func (r *rig) idle() bool { return r.operator.busy == 0 }

// move asks the router for a new primary.
func (r *rig) move(to string) {
	r.operator.send(func(t env.Task) {
		_, err := rpc.Call[command.Done](t, r.operator.ep, "router.0", &command.MovePrimary{Database: "test", To: to}, time.Minute)
		if err != nil {
			r.say("moveprimary to %s: %v", to, err)
			return
		}
		r.say("moveprimary to %s: ok", to)
	})
}

// statement writes to the unsharded collection as statement 0 of a transaction of one session; the same transaction is
// a retry.
func (r *rig) statement(d *datadriven.TestData) {
	k, txn := number(d, "key"), number(d, "txn")
	req := &command.FindAndModify{
		NS: plain, Filter: raw(bson.D{{Key: "_id", Value: k}}), Change: doc(k, arg(d, "v", "new")), Upsert: true,
		Session: command.Session{ID: arg(d, "session", "client"), Txn: txn}, Concern: command.Majority,
	}
	r.operator.send(func(t env.Task) {
		w, err := rpc.Call[command.Written](t, r.operator.ep, "router.0", req, time.Minute)
		switch {
		case err != nil:
			r.say("write of %d: %v", k, err)
		case w.Retried:
			r.say("write of %d: ok, executed before", k)
		default:
			r.say("write of %d: ok", k)
		}
	})
}

// recreate drops a collection of a shard behind the back of the move and makes it again, with another identity.
func (r *rig) recreate(name string) {
	id := r.cluster.Primary(name)
	m := r.cluster.Member(id)
	r.world.Node(id).Spawn(nil, "recreate", func(t env.Task) {
		_, err := m.Write(t, oplog.Op{Kind: oplog.Drop, NS: plain}, oplog.Op{Kind: oplog.Create, NS: plain, Doc: store.EncodeOptions("other", key.Pattern{Field: "_id"})})
		if err == nil {
			_, err = m.Write(t, oplog.Op{Kind: oplog.Insert, NS: plain, ID: string(key.Int(99)), Doc: doc(99, "other")})
		}
		if err != nil {
			r.say("recreate: %v", err)
		}
	})
}

func (r *rig) onPoint(p *sim.Passage) sim.Action {
	for _, f := range r.faults {
		if f.site != p.Site || !strings.HasPrefix(string(p.Node), f.set) {
			continue
		}
		if f.seen++; f.seen == f.nth {
			return r.happen(f, p)
		}
	}
	return sim.Action{}
}

func (r *rig) happen(f *fault, p *sim.Passage) sim.Action {
	r.say("%s: %s at %v", p.Node, f.do, p.Site)
	what, param, _ := strings.Cut(f.do, ":")
	switch what {
	case "crash":
		r.down[p.Node] = true
		return sim.Action{Crash: true}
	case "error":
		return sim.Action{Err: status.New(status.FailPointEnabled, "on purpose")}
	case "pause":
		pause, err := time.ParseDuration(param)
		if err != nil {
			panic(err)
		}
		return sim.Action{Pause: pause}
	}
	panic("nothing is called " + f.do)
}

// Observe tells the events of a move.
func (r *rig) Observe(e *event.Event) {
	switch e.Kind {
	case event.PrimaryMoving:
		r.say("%s %s: %s", e.Node, e.ID, e.Value)
	case event.CriticalSection:
		r.say("%s %s %s %s", e.Node, e.Kind, e.NS, e.Value)
	case event.Elected:
		if e.Term > 1 {
			r.say("%s elected in term %d", e.Node, e.Term)
		}
	case event.CatalogWritten:
		if e.NS == "test" {
			r.say("%s: test is on %s, version %d", e.Node, e.Chunks[0].Shard, e.Chunks[0].Major)
		}
	}
}

// show prints what each shard holds of every collection, from the primary's store.
func (r *rig) show() {
	for _, name := range r.cluster.Topology().ShardNames() {
		data := r.cluster.Member(r.cluster.Primary(name)).Store()
		for _, ns := range data.Collections(store.Latest) {
			if !strings.HasPrefix(ns, "test.") {
				continue
			}
			var held []string
			data.ScanKey(ns, key.Everything, store.Latest, store.Place{}, func(k key.Key, _ string, d bson.Raw) bool {
				held = append(held, fmt.Sprintf("%v=%s", k, d.Lookup("v").StringValue()))
				return true
			})
			r.say("%s %s: %s", name, ns, strings.Join(held, " "))
		}
	}
}

func (r *rig) say(format string, args ...any) { fmt.Fprintf(&r.out, format+"\n", args...) }

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
