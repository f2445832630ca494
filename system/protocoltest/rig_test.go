package protocoltest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// The collections: the first is sharded, the others are on the primary shard of the database.
const sharded, plain, notes = "test.docs", "test.plain", "test.notes"

// rig is a cluster, users who send it commands, and a plan of what goes wrong.
type rig struct {
	t        *testing.T
	out      strings.Builder
	topics   map[string]bool // what is told; nil: everything but applied
	world    *sim.World
	cluster  *system.Cluster
	settings settings.Settings
	protocol protocol.Profile
	shards   int           // 0 means 2
	balances bool          // the balancer is on from the start
	only     []string      // shards that the collection starts on; nil: all
	yieldMax time.Duration // as in sim.Options
	users    []*user
	pending  int // errands that are not done
	// unanswered are those of the present line.
	unanswered *int
	trouble
	act    func(*sim.PointHit) sim.Action // decides instead of the faults that were planned
	passed func(*sim.PointHit)            // is told of every passage
	wrote  map[int64]string               // acknowledged, by key; of each key the last
	times  map[string]hlc.Timestamp
	// Change streams by name, and the places that were noted of them.
	readers map[string]*reader
	tokens  map[string]command.Token
}

// user is a node from which commands are sent: the first is an operator, the others are clients.
type user struct {
	id     env.NodeID
	client *client.Client
	ep     *rpc.Endpoint
	sets   map[string]*rpc.Set
}

func (r *rig) close() {
	if r.world != nil {
		r.world.Close()
	}
}

func (r *rig) found(l line) error {
	var err error
	if r.protocol, err = protocol.Parse(l.arg("protocol", "")); err != nil {
		return err
	}
	r.defaults()
	for _, s := range l.list("set") {
		name, value, _ := strings.Cut(s, ":")
		if err := r.settings.Set(name, value); err != nil {
			return err
		}
	}
	r.balances, r.only = l.has("balancer"), l.list("on")
	r.shards, r.yieldMax, r.topics = int(l.number("shards", 2)), -1, nil
	namespaces := []string{sharded}
	if l.has("unsharded") {
		namespaces = append(namespaces, plain, notes)
	}
	if err := r.assemble(uint64(l.number("seed", 1)), l.list("bounds"), int(l.number("docs", 12)), namespaces...); err != nil {
		return err
	}
	r.record()
	r.out.Reset()
	return nil
}

func (r *rig) defaults() {
	r.settings = settings.Default(r.protocol)
	r.settings.OrphanCleanupDelay = 100 * time.Millisecond
	r.settings.RetryBackoff = 50 * time.Millisecond
}

// assemble makes a cluster and waits until it is ready. The documents are dealt to the collections in turn.
func (r *rig) assemble(seed uint64, bounds []string, docs int, namespaces ...string) error {
	r.close()
	r.trouble = trouble{down: map[env.NodeID]bool{}, sent: map[string][]sent{}}
	r.wrote, r.times, r.pending, r.unanswered, r.users = map[int64]string{}, map[string]hlc.Timestamp{}, 0, new(int), nil
	r.readers, r.tokens = map[string]*reader{}, map[string]command.Token{}
	r.world = sim.New(sim.Options{Seed: seed, Codec: codec.BSON, Observer: r, OnPoint: r.onPoint, YieldMax: r.yieldMax})
	colls := collections(bounds, docs, namespaces)
	colls[0].Shards = r.only
	var err error
	top := system.Topology{Shards: max(r.shards, 2), Members: 3, ConfigMembers: 3, Routers: 2, Clients: 8, Profile: r.protocol, Balancer: r.balances}
	if r.cluster, err = system.Assemble(r.world, top, &r.settings, colls...); err != nil {
		return err
	}
	for _, id := range top.ClientNodes() {
		u := &user{id: id}
		r.users = append(r.users, u)
		r.world.AddNode(id, func(t env.Task) { r.boot(t, u) })
	}
	return r.until(10*time.Second, "the cluster is ready", r.cluster.Ready)
}

func collections(bounds []string, docs int, namespaces []string) []system.Collection {
	var colls []system.Collection
	for _, ns := range namespaces {
		coll := system.Collection{NS: ns}
		if ns == sharded {
			coll.Key = key.Pattern{Field: "k"}
			for _, b := range bounds {
				coll.Bounds = append(coll.Bounds, bound(b))
			}
		}
		colls = append(colls, coll)
	}
	for k := range docs {
		c := &colls[k%len(colls)]
		c.Docs = append(c.Docs, doc(int64(k), "old"))
	}
	return colls
}

func (r *rig) boot(t env.Task, u *user) {
	u.client = r.cluster.NewClient(t.Node())
	u.ep, u.sets = r.cluster.Operator(t.Node())
}

// send has a user run an errand.
func (r *rig) send(u *user, do func(t env.Task)) {
	mine := r.unanswered
	r.pending++
	*mine++
	r.world.Node(u.id).Spawn(nil, "errand", func(t env.Task) {
		do(t)
		r.pending--
		*mine--
	})
}

func (r *rig) operator() *user { return r.users[0] }

// clients are the users who are not the operator.
func (r *rig) clients() []*user { return r.users[1:] }

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

func (r *rig) pass(d time.Duration) error {
	r.world.Run(nil, r.world.Now().Add(d))
	return r.world.Err()
}

// settle heals everything, as often as it has to, and waits until the cluster rests.
func (r *rig) settle() error {
	for {
		r.mend()
		err := r.until(3*time.Minute, "the cluster is at rest", func() bool {
			return r.troubled() || r.pending == 0 && len(r.cluster.Outstanding()) == 0
		})
		if err != nil {
			return err
		}
		if !r.troubled() {
			return r.show()
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
