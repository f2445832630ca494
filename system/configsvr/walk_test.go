package configsvr_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

const ns = "test.docs"

var members = []env.NodeID{"config.0", "config.1", "config.2"}

// walk is a config server, two shards that do as the script says, and a driver that sends the script's commands.
type walk struct {
	world    *sim.World
	settings settings.Settings
	profile  protocol.Profile
	servers  map[env.NodeID]*replset.Member
	driver   *rpc.Endpoint
	config   *rpc.Set
	out      strings.Builder
	plans    map[failpoint.Site]sim.Action
	skip     map[failpoint.Site]int // passages before the planned one
	passed   map[failpoint.Site]int
	late     *sim.Latch
	answers  map[env.NodeID][]errcode.Code // what a shard answers to the next moves
	pending  int
}

func newWalk() *walk {
	w := &walk{
		settings: settings.Default80(), servers: make(map[env.NodeID]*replset.Member), plans: make(map[failpoint.Site]sim.Action),
		skip:   make(map[failpoint.Site]int),
		passed: make(map[failpoint.Site]int), late: &sim.Latch{}, answers: make(map[env.NodeID][]errcode.Code),
	}
	w.world = sim.New(sim.Options{Seed: 1, Codec: codec.BSON, Observer: w, OnPoint: w.onPoint, YieldMax: -1})
	for _, id := range members {
		w.world.AddNode(id, w.bootConfig)
	}
	for _, id := range []env.NodeID{"shard-a.0", "shard-b.0"} {
		w.world.AddNode(id, w.bootShard)
	}
	w.world.AddNode("driver", func(t env.Task) {
		w.driver = rpc.Listen(t.Node(), hlc.New(t.Node()))
		w.config = rpc.NewSet(w.driver, configsvr.Name, members, &w.settings)
	})
	return w
}

func (w *walk) bootConfig(t env.Task) {
	now := hlc.New(t.Node())
	m := replset.Boot(t, replset.Config{Name: configsvr.Name, Self: t.Node().ID(), Members: members, Settings: &w.settings, Clock: now})
	ep := rpc.Listen(t.Node(), now)
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
		return &command.HelloReply{Writable: m.IsPrimary(), Primary: string(m.PrimaryHint())}, nil
	})
	shards := make(map[string]*rpc.Set)
	for _, name := range []string{"shard-a", "shard-b"} {
		shards[name] = rpc.NewSet(ep, name, []env.NodeID{env.NodeID(name + ".0")}, &w.settings)
	}
	configsvr.New(configsvr.Config{Member: m, Endpoint: ep, Settings: &w.settings, Shards: shards, Profile: w.profile})
	m.Watch(shardAdder{m})
	w.servers[t.Node().ID()] = m
}

// renaming is what a step of a rename is about, empty for every other operation.
func renaming(req *command.ShardsvrParticipate) string {
	if req.To == "" {
		return ""
	}
	return req.Collection.NS + " → " + req.To
}

// shardAdder makes the two shards known.
type shardAdder struct{ m *replset.Member }

func (a shardAdder) StepUp(t env.Task) error {
	var ops []oplog.Op
	for _, name := range []string{"shard-a", "shard-b"} {
		op, err := configsvr.AddShard(name, name)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	_, err := a.m.Write(t, ops...)
	return err
}

func (shardAdder) Applied(uint64, *oplog.Entry, bool) {}
func (shardAdder) RolledBack(uint64)                  {}
func (shardAdder) Reset(uint64)                       {}
func (shardAdder) Committed(uint64)                   {}
func (shardAdder) StepDown()                          {}

// bootShard is a shard that makes every collection, and commits every move at once or fails as planned.
func (w *walk) bootShard(t env.Task) {
	ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
	self := t.Node().ID()
	config := rpc.NewSet(ep, configsvr.Name, members, &w.settings)
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
		return &command.HelloReply{Writable: true}, nil
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.ShardsvrParticipate) (*command.Done, error) {
		fmt.Fprintf(&w.out, "  %s takes step %s\n", self, strings.TrimSpace(string(req.Step)+" "+renaming(req)))
		return &command.Done{}, nil
	})
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.JoinMigrations) (*command.Done, error) {
		fmt.Fprintf(&w.out, "  %s has joined its migrations\n", self)
		return &command.Done{}, nil
	})
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.FlushRoutingTableCacheUpdates) (*command.Flushed, error) {
		fmt.Fprintf(&w.out, "  %s refreshes\n", self)
		return &command.Flushed{}, nil
	})
	rpc.Handle(ep, func(t env.Task, _ env.NodeID, req *command.ShardsvrSplitChunk) (*command.Done, error) {
		fmt.Fprintf(&w.out, "  %s is asked to split [%v, %v) at %v\n", self, req.Min, req.Max, req.At)
		_, err := rpc.CallPrimary[command.CommitReply](t, config, &command.CommitChunkSplit{
			NS: ns, Epoch: req.Epoch, Shard: strings.TrimSuffix(string(self), ".0"), Min: req.Min, Max: req.Max, At: req.At,
		}, w.settings.CommandTimeout)
		return &command.Done{}, err
	})
	rpc.Handle(ep, func(t env.Task, _ env.NodeID, req *command.ShardsvrMoveRange) (*command.Done, error) {
		fmt.Fprintf(&w.out, "  %s is asked to move [%v, %v) to %s\n", self, req.Min, req.Max, req.To)
		return w.donate(t, ep, config, self, req)
	})
}

func (w *walk) donate(t env.Task, ep *rpc.Endpoint, config *rpc.Set, self env.NodeID, req *command.ShardsvrMoveRange) (*command.Done, error) {
	var code errcode.Code
	if planned := w.answers[self]; len(planned) > 0 {
		code, w.answers[self] = planned[0], planned[1:]
	}
	if code != "" && code != errcode.NetworkTimeout {
		return nil, errcode.New(code, "as planned")
	}
	update, err := rpc.CallAny[command.RoutingUpdate](t, config, &command.GetRoutingTable{NS: ns, After: ep.Clock().Now().Config}, 0)
	if err != nil {
		return nil, err
	}
	table, err := catalog.NewTable(update.Collection, update.Chunks)
	if err != nil {
		return nil, err
	}
	chunk := table.Owner(req.Min)
	_, err = rpc.CallPrimary[command.CommitReply](t, config, &command.CommitChunkMigration{
		NS: ns, UUID: update.Collection.UUID, Epoch: update.Collection.Epoch, From: chunk.Shard, To: req.To,
		Min: req.Min, Max: req.Max, PreVersion: chunk.Version, ValidAfter: ep.Clock().Tick(), Migration: "of " + req.MigrationOf,
	}, w.settings.CommandTimeout)
	if code != "" && err == nil {
		err = errcode.New(code, "the answer got lost, as planned")
	}
	return &command.Done{}, err
}

func (w *walk) onPoint(p *sim.PointHit) sim.Action {
	if !strings.HasPrefix(string(p.Node), "config") {
		return sim.Action{}
	}
	w.passed[p.Site]++
	do, planned := w.plans[p.Site]
	if w.skip[p.Site] > 0 {
		w.skip[p.Site]--
		return sim.Action{}
	}
	if planned {
		delete(w.plans, p.Site)
		fmt.Fprintf(&w.out, "  %s is at %s\n", p.Node, p.Site)
	}
	return do
}

// Observe prints what is written to the catalogue, and by whom.
func (w *walk) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.CatalogWritten:
		fmt.Fprintf(&w.out, "  %s writes %q:", e.Node, e.Why())
		if e.NS != ns {
			fmt.Fprintf(&w.out, " of %s:", e.NS)
		}
		for _, c := range e.Chunks {
			fmt.Fprintf(&w.out, " [%v, %v) %s %d|%d", key.Key(c.Min), key.Key(c.Max), c.Shard, c.Major, c.Minor)
		}
		w.out.WriteString("\n")
	case trace.Writable:
		fmt.Fprintf(&w.out, "  %s is primary\n", e.Node)
	case trace.RolledBack:
		fmt.Fprintf(&w.out, "  %s rolls back\n", e.Node)
	}
}

func TestWalks(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := newWalk()
		defer w.world.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			w.do(t, d)
			if err := w.world.Err(); err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			return w.out.String()
		})
	})
}

func (w *walk) do(t *testing.T, d *datadriven.TestData) {
	switch d.Cmd {
	case "shard", "drop", "index", "rename", "commit", "ensure", "move", "split", "merge", "table":
		w.command(t, d)
	case "protocol":
		w.speak(t, d)
	case "records":
		w.records()
	case "wait":
		span, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		w.world.Run(nil, w.world.Now().Add(span))
	case "plan":
		w.plan(t, d)
	case "answers":
		id := env.NodeID(d.CmdArgs[0].Key)
		for _, a := range d.CmdArgs[1:] {
			w.answers[id] = append(w.answers[id], errcode.Code(a.Key))
		}
	case "release":
		w.late.Open()
		w.late = &sim.Latch{}
		w.world.Run(func() bool { return w.pending == 0 }, w.world.Now().Add(20*time.Second))
	case "cut", "heal":
		id := env.NodeID(d.CmdArgs[0].Key)
		for _, other := range members {
			if do := map[string]func(_, _ env.NodeID, oneWay bool){"cut": w.world.Partition, "heal": w.world.Heal}[d.Cmd]; other != id {
				do(id, other, false)
			}
		}
	case "stepdown":
		for _, id := range members {
			if m := w.servers[id]; m.IsPrimary() {
				w.world.Node(id).Spawn(nil, "stepdown", func(t env.Task) { _ = m.StepDown(t) })
			}
		}
	case "restart":
		for _, id := range members {
			w.world.Restart(id)
		}
	default:
		d.Fatalf(t, "no verb %q", d.Cmd)
	}
}

// speak sets the version of the protocol; it is said first, if at all.
func (w *walk) speak(t *testing.T, d *datadriven.TestData) {
	p, err := protocol.Parse(d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	w.profile, w.settings = p, settings.Default(p)
}

// records prints the locks and migrations that the primary has on record.
func (w *walk) records() {
	for _, id := range members {
		m := w.servers[id]
		if !w.world.Up(id) || !m.IsPrimary() {
			continue
		}
		for _, ns := range []string{configsvr.Locks, configsvr.Migrations} {
			m.Store().Scan(ns, store.Latest, func(_ string, doc bson.Raw) bool {
				fmt.Fprintf(&w.out, "  %s: %v", ns, doc.Lookup("_id").StringValue())
				for _, field := range []string{"ts", "why", "fromShard", "toShard"} {
					if v, ok := doc.Lookup(field).StringValueOK(); ok {
						fmt.Fprintf(&w.out, ", %s %s", field, v)
					}
				}
				w.out.WriteString("\n")
				return true
			})
		}
	}
}

// plan says what happens at the next passage of a site, or at a later one.
func (w *walk) plan(t *testing.T, d *datadriven.TestData) {
	site, ok := failpoint.Parse(d.CmdArgs[0].Key)
	if !ok {
		d.Fatalf(t, "no site %q", d.CmdArgs[0].Key)
	}
	var skip int
	if d.HasArg("skip") {
		d.ScanArgs(t, "skip", &skip)
	}
	w.skip[site] = skip
	w.plans[site] = map[string]sim.Action{
		"crash": {Crash: true}, "error": {Err: errcode.New(errcode.FailPointEnabled, "as planned")}, "hold": {Until: w.late},
	}[d.CmdArgs[1].Key]
}

// command sends one command, to the primary once there is one. With "async" the script goes on meanwhile.
func (w *walk) command(t *testing.T, d *datadriven.TestData) {
	verb, args := d.Cmd, arguments(t, d)
	if w.driver == nil {
		w.world.Run(func() bool { return w.driver != nil }, w.world.Now().Add(time.Second))
	}
	w.pending++
	ended := false
	w.driver.Node().Spawn(nil, d.Cmd, func(task env.Task) {
		for {
			text, err := w.send(task, verb, args)
			if errcode.Is(err, errcode.NotWritablePrimary) {
				if task.Sleep(100*time.Millisecond) == nil {
					continue
				}
			}
			if err != nil {
				text = err.Error()
			}
			fmt.Fprintf(&w.out, "%s: %s\n", strings.TrimSpace(verb+" "+args["id"]), text)
			ended = true
			w.pending--
			return
		}
	})
	span := 30 * time.Second
	if d.HasArg("async") {
		span = 100 * time.Millisecond
	}
	w.world.Run(func() bool { return ended }, w.world.Now().Add(span))
}

func arguments(t *testing.T, d *datadriven.TestData) map[string]string {
	args := make(map[string]string)
	for _, a := range d.CmdArgs {
		if len(a.Vals) > 0 {
			args[a.Key] = a.Vals[0]
		}
	}
	return args
}

func (w *walk) send(t env.Task, verb string, a map[string]string) (string, error) {
	min, max, limit := bound(a["min"], key.Min), bound(a["max"], key.Max), w.settings.CommandTimeout
	ns := cmp.Or(a["ns"], ns)
	coll := configsvr.NewCollection(ns, key.Pattern{Field: "k"}, 1)
	if verb != "shard" {
		if update, err := w.table(t, ns); err == nil {
			coll = update.Collection
		}
	}
	switch verb {
	case "shard":
		_, err := rpc.CallPrimary[command.Done](t, w.config, &command.ShardCollection{
			NS: ns, Key: key.Pattern{Field: "k"}, Bounds: []key.Key{key.Int(10), key.Int(20)}, Shards: []string{"shard-a", "shard-b"},
		}, limit)
		return "done", err
	case "drop":
		_, err := rpc.CallPrimary[command.Done](t, w.config, &command.DropCollection{NS: ns, Session: request(a["request"])}, limit)
		return "done", err
	case "rename":
		_, err := rpc.CallPrimary[command.Done](t, w.config, &command.RenameCollection{
			NS: ns, To: a["into"], DropTarget: a["over"] != "", Session: request(a["request"]),
		}, limit)
		return "done", err
	case "index":
		_, err := rpc.CallPrimary[command.Done](t, w.config, &command.CreateIndex{NS: ns, Field: "v", Session: request(a["request"])}, limit)
		return "done", err
	case "commit":
		if epoch, ok := a["epoch"]; ok {
			coll.Epoch = epoch
		}
		r, err := rpc.CallPrimary[command.CommitReply](t, w.config, &command.CommitChunkMigration{
			NS: ns, UUID: coll.UUID, Epoch: coll.Epoch, From: "shard-" + a["from"], To: "shard-" + a["to"], Min: min, Max: max,
			PreVersion: version(coll, a["version"]), ValidAfter: w.driver.Clock().Tick(), Migration: a["id"],
		}, limit)
		return reply(r, err)
	case "ensure":
		_, err := rpc.CallPrimary[command.Done](t, w.config, &command.EnsureChunkVersionIsGreaterThan{
			NS: ns, UUID: coll.UUID, Min: min, Max: max, Version: version(coll, a["version"]),
		}, limit)
		return "done", err
	case "split":
		r, err := rpc.CallPrimary[command.CommitReply](t, w.config, &command.CommitChunkSplit{
			NS: ns, Epoch: coll.Epoch, Shard: "shard-" + a["on"], Min: min, Max: max, At: []key.Key{bound(a["at"], key.Min)},
		}, limit)
		return reply(r, err)
	case "merge":
		r, err := rpc.CallPrimary[command.CommitReply](t, w.config, &command.CommitChunksMerge{
			NS: ns, Epoch: coll.Epoch, Shard: "shard-" + a["on"], Min: min, Max: max,
		}, limit)
		return reply(r, err)
	case "move":
		_, err := rpc.CallPrimary[command.Done](t, w.config, &command.MoveRange{NS: ns, Min: min, Max: max, To: "shard-" + a["to"], WaitDelete: a["wait"] != "", Name: a["id"]}, 0)
		return "done", err
	}
	update, err := w.table(t, ns)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range update.Chunks {
		fmt.Fprintf(&b, "\n  %v %s %d|%d, history", c.Range, c.Shard, c.Version.Major, c.Version.Minor)
		for _, p := range c.History {
			b.WriteString(" " + p.Shard)
		}
	}
	return b.String(), nil
}

func reply(r *command.CommitReply, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("donor %d|%d, collection %d|%d", r.ShardVersion.Major, r.ShardVersion.Minor, r.CollectionVersion.Major, r.CollectionVersion.Minor), nil
}

func (w *walk) table(t env.Task, ns string) (*command.RoutingUpdate, error) {
	return rpc.CallAny[command.RoutingUpdate](t, w.config, &command.GetRoutingTable{NS: ns, After: w.driver.Clock().Now().Config}, w.settings.CommandTimeout)
}

// request is the session's request of that number; none for an empty text.
func request(number string) command.Session {
	if number == "" {
		return command.Session{}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("request %q: %v", number, err))
	}
	return command.Session{ID: "client", Txn: n}
}

func bound(text string, missing key.Key) key.Key {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return key.Int(n)
	}
	return missing
}

func version(coll catalog.Collection, text string) catalog.Version {
	v := coll.Version()
	if text == "" { // 4.2 does not say
		return v
	}
	if _, err := fmt.Sscanf(text, "%d|%d", &v.Major, &v.Minor); err != nil {
		panic(fmt.Sprintf("version %q: %v", text, err))
	}
	return v
}
