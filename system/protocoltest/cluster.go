package protocoltest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// The collections of a Rig: Sharded is sharded by k, the others are on the primary shard of the
// database.
const (
	Sharded = "test.docs"
	plain   = "test.plain"
	notes   = "test.notes"
)

// Rig is a whole cluster on a stage, with users who send it commands. The fields are read by
// Assemble.
type Rig struct {
	*Stage
	// Cluster is nil until Assemble.
	Cluster *system.Cluster
	// Settings and Protocol are the cluster's.
	Settings settings.Settings
	Protocol protocol.Profile
	// Shards is how many there are; below 2 it counts as 2.
	Shards int
	// Balances has the balancer on from the start.
	Balances bool
	// On lists the shards that the sharded collection starts on; nil: all of them.
	On []string
	// YieldMax and YieldProbability are as in sim.Options.
	YieldMax         time.Duration
	YieldProbability sim.Probability

	topics  topics
	users   []*User
	wrote   map[int64]string         // acknowledged, by key; of each key the last
	times   map[string]hlc.Timestamp // cluster times by name; "last" is that of the last answer
	streams map[string]*stream
	tokens  tokens
}

// User is a node from which commands are sent.
type User struct {
	// ID is the node.
	ID env.NodeID
	// Client speaks to the routers as an application does.
	Client *client.Client
	// Endpoint and Sets reach servers directly, as an operator may.
	Endpoint *rpc.Endpoint
	Sets     map[string]*rpc.Set
}

// New returns a rig without a cluster and with every verb of the language.
func New() *Rig {
	r := &Rig{Stage: NewStage()}
	r.Defaults()
	r.addVerbs()
	return r
}

// Defaults sets the protocol's settings, with delays that are short enough for a script.
func (r *Rig) Defaults() {
	r.Settings = settings.Default(r.Protocol)
	r.Settings.OrphanCleanupDelay = 100 * time.Millisecond
	r.Settings.RetryBackoff = 50 * time.Millisecond
	r.Settings.CommandTimeout = 3 * time.Second
	r.Settings.TransactionLifetime = 0
}

// assemble is the verb "cluster".
func (r *Rig) assemble(l Line) error {
	var err error
	if r.Protocol, err = protocol.Parse(l.Arg("protocol", "")); err != nil {
		return err
	}
	r.Defaults()
	for _, s := range l.List("set") {
		name, value, _ := strings.Cut(s, ":")
		if err := r.Settings.Set(name, value); err != nil {
			return err
		}
	}
	r.Balances, r.On = l.Has("balancer"), l.List("on")
	r.Shards, r.YieldMax, r.topics = int(l.Number("shards", 2)), -1, nil
	if longest := l.Arg("yields", ""); longest != "" {
		r.YieldMax, r.YieldProbability = duration(longest), sim.Always
	}
	namespaces := []string{Sharded}
	if l.Has("unsharded") {
		namespaces = append(namespaces, plain, notes)
	}
	var bounds []key.Key
	for _, b := range l.List("bounds") {
		bounds = append(bounds, Bound(b))
	}
	colls := collections(bounds, int(l.Number("docs", 12)), namespaces)
	if err := r.start(uint64(l.Number("seed", 1)), colls); err != nil {
		return err
	}
	r.record()
	r.Happened() // how it started is no part of the story
	return nil
}

// Assemble makes a world with a cluster and waits until that is ready. The sharded collection has
// chunks between the bounds and documents 0 to docs-1.
func (r *Rig) Assemble(seed uint64, docs int, bounds ...key.Key) error {
	return r.start(seed, collections(bounds, docs, []string{Sharded}))
}

func (r *Rig) start(seed uint64, colls []system.Collection) error {
	r.Open(sim.Options{
		Seed: seed, Observer: r, YieldMax: r.YieldMax, YieldProbability: r.YieldProbability,
	})
	r.wrote, r.times, r.users = map[int64]string{}, map[string]hlc.Timestamp{}, nil
	r.streams, r.tokens = map[string]*stream{}, tokens{}
	colls[0].Shards = r.On
	top := system.Topology{
		Shards: max(r.Shards, 2), Members: 3, ConfigMembers: 3, Routers: 2, Clients: 8,
		Profile: r.Protocol, BalancerOff: !r.Balances,
	}
	var err error
	if r.Cluster, err = system.Assemble(r.World, top, &r.Settings, colls...); err != nil {
		return err
	}
	r.Servers = r
	for _, id := range top.ClientNodes() {
		u := &User{ID: id}
		r.users = append(r.users, u)
		r.World.AddNode(id, func(t env.Task) { r.boot(t, u) })
	}
	return r.Until(10*time.Second, "the cluster is ready", r.Cluster.Ready)
}

// collections makes collections, and deals documents to them in turn; the first is sharded.
func collections(bounds []key.Key, docs int, namespaces []string) []system.Collection {
	var colls []system.Collection
	for _, ns := range namespaces {
		coll := system.Collection{NS: ns}
		if ns == Sharded {
			coll.Key, coll.Bounds = key.Pattern{Field: "k"}, bounds
		}
		colls = append(colls, coll)
	}
	for k := range docs {
		c := &colls[k%len(colls)]
		c.Docs = append(c.Docs, doc(int64(k), "old"))
	}
	return colls
}

func (r *Rig) boot(t env.Task, u *User) {
	u.Client = r.Cluster.NewClient(t.Node())
	u.Endpoint, u.Sets = r.Cluster.Operator(t.Node())
}

// Operator is the user who sends administrative commands, without a router where there is another
// way.
func (r *Rig) Operator() *User { return r.users[0] }

// Clients are the users who are not the operator.
func (r *Rig) Clients() []*User { return r.users[1:] }

// Request has a user run something that a script waits for.
func (r *Rig) Request(u *User, do func(env.Task)) { r.Send(u.ID, "request", do) }

// Member is as in Servers.
func (r *Rig) Member(id env.NodeID) *replset.Member { return r.Cluster.Member(id) }

// Primary is as in Servers.
func (r *Rig) Primary(set string) env.NodeID { return r.Cluster.Primary(set) }

// MembersOf is as in Servers.
func (r *Rig) MembersOf(set string) []env.NodeID {
	if slices.Contains(r.Cluster.Sets(), set) {
		return r.Cluster.Topology().MembersOf(set)
	}
	return nil
}

// Quiesce ends all faults, as often as new ones begin, and waits until nothing is outstanding; then
// it shows who owns and holds what, and fails when that is not as the catalog has it or an
// acknowledged write is missing.
func (r *Rig) Quiesce() error {
	for {
		r.Heal()
		err := r.Until(3*time.Minute, "nothing is outstanding", func() bool {
			return !r.Healthy() || r.Answered() && len(r.Cluster.Outstanding()) == 0
		})
		if err != nil {
			return fmt.Errorf("%w\noutstanding: %q", err, r.Cluster.Outstanding())
		}
		if r.Healthy() {
			return r.showDocuments()
		}
	}
}

// doc is the document with that key and value.
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
