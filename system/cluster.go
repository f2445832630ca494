// Package system assembles a sharded cluster in a world: the config server, shards, routers, and
// what clients need to reach them. It is the only place that knows all roles.
//
// Promise: after Assemble the world holds every server of the topology, each booting by itself;
// once Ready, the collections exist with their chunks and first documents, majority-committed.
//
// A Cluster is also the eye of a harness: it looks into the members' memory, which no node could.
// Nothing inside the cluster depends on it.
//
// Refusal: it has no behaviour of its own: what servers do is in the packages of their roles.
package system

import (
	"time"

	"github.com/shardproof/shardproof/system/admin"
	"github.com/shardproof/shardproof/system/autosplit"
	"github.com/shardproof/shardproof/system/balancer"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/moveprimary"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
)

// World is where a cluster lives.
type World interface {
	AddNode(id env.NodeID, boot env.Boot)
	// Node is the node's running process, nil while it is down.
	Node(id env.NodeID) env.Node
}

// Cluster is an assembled cluster.
type Cluster struct {
	world     World
	topology  Topology
	settings  *settings.Settings
	bootstrap *bootstrapState
	sets      []string
	nodes     map[string][]env.NodeID // of each replica set
	reading   document.Memo[[]byte, *oplog.Entry]
	tables    configsvr.TableReader
	// Of each node the last process that booted: one that runs and has not booted yet is another.
	booted   map[env.NodeID]env.Node
	members  map[env.NodeID]*replset.Member
	shards   map[env.NodeID]*shard.Server
	routers  map[env.NodeID]*router.Router
	adjusted map[env.NodeID]*settings.Settings
	zones    map[env.NodeID]time.Duration
	// open: anyone may send commands, not only parties that know who takes which.
	open bool
}

// Assemble adds the servers of a cluster to the world. The settings are those every server starts
// with; command.SetParameter changes one server's while it runs. An error names the impossible
// topology or collection; the world is then as before.
func Assemble(w World, top Topology, s *settings.Settings, colls ...Collection) (*Cluster, error) {
	if err := top.Validate(); err != nil {
		return nil, err
	}
	founding, err := createCollections(top, colls)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		world:     w,
		topology:  top,
		settings:  s,
		bootstrap: founding,
		nodes:     make(map[string][]env.NodeID),
		booted:    make(map[env.NodeID]env.Node),
		members:   make(map[env.NodeID]*replset.Member),
		shards:    make(map[env.NodeID]*shard.Server),
		routers:   make(map[env.NodeID]*router.Router),
		adjusted:  make(map[env.NodeID]*settings.Settings),
		zones:     make(map[env.NodeID]time.Duration),
	}
	c.sets = append([]string{configsvr.Name}, top.ShardNames()...)
	for _, name := range c.sets {
		c.nodes[name] = top.MembersOf(name)
	}
	for _, id := range c.nodes[configsvr.Name] {
		w.AddNode(id, c.bootConfig)
	}
	for _, name := range top.ShardNames() {
		for _, id := range c.nodes[name] {
			w.AddNode(id, func(t env.Task) { c.bootShard(t, name) })
		}
	}
	for _, id := range top.RouterNodes() {
		w.AddNode(id, c.bootRouter)
	}
	return c, nil
}

// Open says that servers that boot afterwards may be sent commands by anyone: one that a server
// does not know is answered with an error. Without it such a command is a mistake of the cluster's
// own code and fails an assertion.
func (c *Cluster) Open() { c.open = true }

// bootMember recovers the member before the node answers anyone.
func (c *Cluster) bootMember(t env.Task, name string) (*replset.Member, *rpc.Endpoint) {
	node := t.Node()
	now := hlc.New(node)
	m := replset.Boot(t, replset.Config{
		Name: name, Self: node.ID(), Members: c.nodes[name], Settings: c.start(node), Clock: now,
		Reading: &c.reading,
	})
	c.members[node.ID()], c.booted[node.ID()] = m, node
	return m, c.listen(node, now)
}

// Locate puts a server into a time zone so far east of UTC. It counts for processes that boot
// afterwards.
func (c *Cluster) Locate(id env.NodeID, east time.Duration) { c.zones[id] = east }

// start gives a process settings of its own.
func (c *Cluster) start(node env.Node) *settings.Settings {
	own := *c.settings
	if east, located := c.zones[node.ID()]; located {
		own.LocalTimeOffset = east
	}
	c.adjusted[node.ID()] = &own
	return &own
}

// listen has the server take commands, in a cluster whose parties know who takes which; every
// server takes those that change its settings.
func (c *Cluster) listen(node env.Node, now *hlc.Clock) *rpc.Endpoint {
	ep := rpc.Listen(node, now)
	if !c.open {
		ep.Complete()
	}
	rpc.Handle(ep, parameterCommands{c.adjusted[node.ID()]}.set)
	return ep
}

func (c *Cluster) bootConfig(t env.Task) {
	m, ep := c.bootMember(t, configsvr.Name)
	rpc.Handle(ep, memberCommands{m}.hello)
	rpc.Handle(ep, memberCommands{m}.stepDown)
	config := configsvr.New(configsvr.Config{
		Member:   m,
		Endpoint: ep,
		Settings: c.of(ep),
		Shards:   c.views(ep),
		Profile:  c.topology.Profile,
	})
	admin.New(config)
	m.Watch(bootstrapper{m, c.bootstrap.config})
	balancer.New(config)
}

func (c *Cluster) bootShard(t env.Task, name string) {
	m, ep := c.bootMember(t, name)
	server := shard.New(shard.Config{
		Member:   m,
		Endpoint: ep,
		Settings: c.of(ep),
		Sets:     c.views(ep),
		Profile:  c.topology.Profile,
	})
	c.shards[ep.Node().ID()] = server
	m.Watch(bootstrapper{m, c.bootstrap.shards[name]})
	moves := migration.New(server, rangedel.New(ep, m, server, c.of(ep)))
	changestream.New(server, moves.Receivers)
	moveprimary.New(server, moves)
	if c.topology.Profile.SplitsOnWrites() {
		autosplit.New(server)
	}
}

func (c *Cluster) bootRouter(t env.Task) {
	c.start(t.Node())
	ep := c.listen(t.Node(), hlc.New(t.Node()))
	sets := c.views(ep)
	c.routers[t.Node().ID()] = router.New(ep, sets[configsvr.Name], sets, c.of(ep),
		c.topology.Profile)
	c.booted[t.Node().ID()] = t.Node()
}

// views are one node's view of all replica sets, by name.
func (c *Cluster) views(ep *rpc.Endpoint) map[string]*rpc.Set {
	sets := make(map[string]*rpc.Set)
	for _, name := range c.Sets() {
		sets[name] = rpc.NewSet(ep, name, c.nodes[name], c.of(ep))
	}
	return sets
}

// of are the settings of a server's running process; everyone else has those that servers start
// with.
func (c *Cluster) of(ep *rpc.Endpoint) *settings.Settings {
	if own := c.adjusted[ep.Node().ID()]; own != nil {
		return own
	}
	return c.settings
}

// Operator is a node's view of all replica sets, for commands that bypass the routers; it is called
// from the node's Boot.
func (c *Cluster) Operator(node env.Node) (*rpc.Endpoint, map[string]*rpc.Set) {
	ep := rpc.Listen(node, hlc.New(node))
	return ep, c.views(ep)
}

// NewClient makes the node a client of the cluster's routers; it is called from the node's Boot.
func (c *Cluster) NewClient(node env.Node) *client.Client {
	return client.New(rpc.Listen(node, hlc.New(node)), c.topology.RouterNodes(), c.settings)
}

// memberCommands answers what every member of a replica set is asked.
type memberCommands struct{ m *replset.Member }

func (s memberCommands) hello(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
	return &command.HelloReply{
		Writable: s.m.IsPrimary(), Primary: string(s.m.PrimaryHint()), Term: s.m.Term(),
		Applied: s.m.Applied(), Majority: s.m.Committed(),
	}, nil
}

func (s memberCommands) stepDown(
	t env.Task, _ env.NodeID, _ *command.StepDown,
) (*command.Done, error) {
	return &command.Done{}, s.m.StepDown(t)
}

// parameterCommands changes the settings of one server's process.
type parameterCommands struct{ of *settings.Settings }

func (p parameterCommands) set(
	t env.Task, _ env.NodeID, req *command.SetParameter,
) (*command.Done, error) {
	if settings.StartupOnly(req.Name) {
		return nil, errcode.New(errcode.IllegalOperation,
			"setting %s counts from the start of a server on and cannot be changed later", req.Name)
	}
	if err := p.of.Set(req.Name, req.Value); err != nil {
		return nil, errcode.New(errcode.BadValue, "%v", err)
	}
	t.Node().Sometimes("a setting is changed while a server runs")
	return &command.Done{}, nil
}
