package shard

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

const testNS = "test.docs"

// testCluster is one shard of real members, a config server of one node that only knows one table,
// and a client. The other shard, "shard-b", is a name in the table.
type testCluster struct {
	world    *sim.World
	settings settings.Settings
	ids      []env.NodeID
	servers  map[env.NodeID]*Server
	onBoot   func(*Server)
	catalog  *catalog.Table
	changed  hlc.Timestamp // when the catalog last changed
	client   *rpc.Endpoint
	onEvent  func(*trace.Event)
}

func newTestCluster(members int, opts sim.Options) *testCluster {
	c := &testCluster{settings: settings.Default80(), servers: map[env.NodeID]*Server{}}
	opts.Observer = c
	c.world = sim.New(opts)
	c.catalog = foundingTable(nil, "shard-a")
	c.world.AddNode("config.0", c.bootConfig)
	for i := range members {
		c.ids = append(c.ids, env.NodeID("shard-a."+string(rune('0'+i))))
	}
	for _, id := range c.ids {
		c.world.AddNode(id, c.bootMember)
	}
	c.world.AddNode("client.0", func(t env.Task) {
		c.client = rpc.Listen(t.Node(), hlc.New(t.Node()))
	})
	return c
}

func foundingTable(bounds []int64, shards ...string) *catalog.Table {
	coll := catalog.Collection{
		NS:              testNS,
		UUID:            "u1",
		Epoch:           "e1",
		Timestamp:       hlc.At(1),
		Key:             key.Pattern{Field: "k"},
		AllowMigrations: true,
	}
	var inner []key.Key
	for _, b := range bounds {
		inner = append(inner, key.Int(b))
	}
	chunks, err := catalog.First(coll, inner, shards)
	return must(catalog.NewTable(coll, must(chunks, err)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Observe passes on what the shard says of itself.
func (c *testCluster) Observe(e *trace.Event) {
	if c.onEvent != nil {
		c.onEvent(e)
	}
}

// bootConfig serves the catalog as of now, whole or what is new since a version.
func (c *testCluster) bootConfig(t env.Task) {
	e := rpc.Listen(t.Node(), hlc.New(t.Node()))
	rpc.Handle(e, func(
		t env.Task, _ env.NodeID, req *command.GetRoutingTable,
	) (*command.RoutingUpdate, error) {
		if req.NS != testNS {
			return nil, errcode.New(errcode.NamespaceNotFound, "no collection %s", req.NS)
		}
		table := c.catalog
		e.Clock().Advance(hlc.Vector{Config: c.changed})
		full := !req.Since.SameIncarnation(table.Version())
		update := &command.RoutingUpdate{Collection: table.Collection(), Full: full, At: c.changed}
		if full {
			for ch := range table.Chunks() {
				update.Chunks = append(update.Chunks, ch)
			}
		} else {
			update.Chunks = table.Since(req.Since)
		}
		return update, nil
	})
}

func (c *testCluster) bootMember(t env.Task) {
	id := t.Node().ID()
	e := rpc.Listen(t.Node(), hlc.New(t.Node()))
	m := replset.Boot(t, replset.Config{
		Name:     "shard-a",
		Self:     id,
		Members:  c.ids,
		Settings: &c.settings,
		Clock:    e.Clock(),
	})
	sets := map[string]*rpc.Set{ConfigSet: rpc.NewSet(e, ConfigSet, []env.NodeID{"config.0"},
		&c.settings),
		"shard-a": rpc.NewSet(e, "shard-a", c.ids, &c.settings)}
	s := New(Config{Member: m, Endpoint: e, Settings: &c.settings, Sets: sets})
	c.servers[id] = s
	if c.onBoot != nil {
		c.onBoot(s)
	}
}

// primary is the server of the newest term that accepts writes, nil when there is none.
func (c *testCluster) primary() *Server {
	var best *Server
	for _, id := range c.ids {
		s := c.servers[id]
		if c.world.Up(id) && s != nil && s.Member().IsPrimary() &&
			(best == nil || s.Member().Term() > best.Member().Term()) {
			best = s
		}
	}
	return best
}

func (c *testCluster) run(d time.Duration, until func() bool) sim.StopReason {
	return c.world.Run(until, c.world.Now().Add(d))
}

func (c *testCluster) elect() *Server {
	c.run(time.Minute, func() bool { return c.primary() != nil })
	return c.primary()
}

// on starts fn in a task of the node and returns whether it is done.
func (c *testCluster) on(id env.NodeID, name string, fn func(t env.Task)) func() bool {
	done := false
	c.world.Node(id).Spawn(nil, name, func(t env.Task) {
		fn(t)
		done = true
	})
	return func() bool { return done }
}

// change sets the catalog and has everybody who hears of the client hear of the change.
func (c *testCluster) change(t *catalog.Table) {
	c.catalog = t
	c.changed = c.client.Clock().Tick()
	c.client.Clock().Advance(hlc.Vector{Config: c.changed})
}

func (c *testCluster) move(from, to key.Key, shard string) {
	rng := key.Range{Min: from, Max: to}
	owner := c.catalog.Owner(rng.Min).Shard
	at := c.client.Clock().Tick()
	c.change(
		must(c.catalog.With(must(catalog.Move(c.catalog, rng, owner, shard, at,
			catalog.HistoryWindow{Reach: time.Minute})))),
	)
}

func send[Resp any](t env.Task, c *testCluster, to env.NodeID, req env.Message) (*Resp, error) {
	return rpc.Call[Resp](t, c.client, to, req, 0)
}

func timed(t env.Task, c *testCluster, to env.NodeID, req env.Message) (*command.Written, error) {
	return rpc.Call[command.Written](t, c.client, to, req, time.Second)
}

// create makes the collection on the shard.
func (c *testCluster) create() {
	req := &command.ShardsvrParticipate{
		Operation: 1, Step: command.ParticipantCreate, Collection: c.catalog.Collection(),
	}
	to := c.elect().Node().ID()
	c.run(time.Minute, c.on("client.0", "create", func(t env.Task) {
		for {
			if _, err := rpc.Call[command.Done](t, c.client, to, req, time.Second); err == nil {
				return
			}
		}
	}))
}

func testDoc(k int64, v string) bson.Raw {
	return must(
		bson.Marshal(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}, {Key: "v", Value: v}}),
	)
}

// isolate cuts the primary off from the other members, but not from the client.
func (c *testCluster) isolate() {
	first := c.primary().Node().ID()
	for _, id := range c.ids {
		if id != first {
			c.world.Partition(first, id, false)
		}
	}
}
