package migration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/clock"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/status"
	"github.com/shardproof/shardproof/system/store"
)

const ns = "test.docs"

// rig is a cluster, an operator who moves ranges, a client who writes, and a plan of what goes wrong.
type rig struct {
	t        *testing.T
	out      strings.Builder
	world    *sim.World
	cluster  *system.Cluster
	settings settings.Settings
	clients  []*operator
	operator *operator // the first of the clients
	faults   []*fault
	down     map[env.NodeID]bool
	wrote    map[int64]string // acknowledged, by key; every key is written once
	shards   int              // 0 means 2
	held     sim.RuleID
	applied  bool // tell every write, too
	act      func(*sim.Passage) sim.Action
	note     func(*sim.Passage) // told of every passage
}

type fault struct {
	site point.Site
	nth  int
	node string
	do   string
	seen int
}

// operator is a node from which commands are sent.
type operator struct {
	errands []func(t env.Task)
	busy    int
	sets    map[string]*rpc.Set
	user    *client.Client
}

func (r *rig) close() {
	if r.world != nil {
		r.world.Close()
	}
}

func (r *rig) found(d *datadriven.TestData) error {
	r.defaults()
	for _, s := range list(d, "set") {
		name, value, _ := strings.Cut(s, ":")
		if err := r.settings.Set(name, value); err != nil {
			return err
		}
	}
	docs := 20
	if _, err := fmt.Sscan(arg(d, "docs", "20"), &docs); err != nil {
		return err
	}
	seed := uint64(1)
	if _, err := fmt.Sscan(arg(d, "seed", "1"), &seed); err != nil {
		return err
	}
	return r.assemble(seed, list(d, "bounds"), docs)
}

func (r *rig) defaults() {
	r.settings = settings.Default80()
	r.settings.OrphanCleanupDelay = 100 * time.Millisecond
	r.settings.RetryBackoff = 50 * time.Millisecond
}

func (r *rig) assemble(seed uint64, bounds []string, docs int) error {
	r.close()
	r.down, r.faults, r.wrote = map[env.NodeID]bool{}, nil, map[int64]string{}
	r.world = sim.New(sim.Options{Seed: seed, Codec: codec.BSON, Observer: r, OnPoint: r.onPoint})
	coll := system.Collection{NS: ns, Key: key.Pattern{Field: "k"}}
	for _, b := range bounds {
		coll.Bounds = append(coll.Bounds, bound(b))
	}
	for k := range docs {
		coll.Docs = append(coll.Docs, doc(int64(k), "old"))
	}
	var err error
	top := system.Topology{Shards: max(r.shards, 2), Members: 3, ConfigMembers: 3, Routers: 2, Clients: 8}
	if r.cluster, err = system.Assemble(r.world, top, &r.settings, coll); err != nil {
		return err
	}
	r.clients = nil
	for _, id := range top.ClientNodes() {
		o := &operator{}
		r.clients = append(r.clients, o)
		r.world.AddNode(id, func(t env.Task) { r.bootOperator(t, o) })
	}
	r.operator = r.clients[0]
	return r.until(10*time.Second, "the cluster is ready", r.cluster.Ready)
}

func (r *rig) bootOperator(t env.Task, o *operator) {
	o.user = r.cluster.NewClient(t.Node())
	ep := rpc.Listen(t.Node(), clock.New(t.Node()))
	o.sets = map[string]*rpc.Set{}
	for _, name := range r.cluster.Sets() {
		o.sets[name] = rpc.NewSet(ep, name, r.cluster.Topology().MembersOf(name), &r.settings)
	}
	for {
		for len(o.errands) > 0 {
			next := o.errands[0]
			o.errands = o.errands[1:]
			t.Node().Spawn(nil, "command", func(t env.Task) {
				next(t)
				o.busy--
			})
		}
		if t.Sleep(time.Millisecond) != nil {
			return
		}
	}
}

// idle reports whether every command was answered.
func (r *rig) idle() bool {
	for _, o := range r.clients {
		if o.busy > 0 {
			return false
		}
	}
	return true
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

func (r *rig) pass(d string) error {
	end := r.world.Now().Add(duration(d))
	r.world.Run(nil, end)
	return r.world.Err()
}

func (r *rig) plan(d *datadriven.TestData) error {
	site, ok := point.Parse(d.CmdArgs[0].Key)
	if !ok {
		return fmt.Errorf("there is no site %s", d.CmdArgs[0].Key)
	}
	f := &fault{site: site, nth: 1, node: arg(d, "node", ""), do: arg(d, "do", "crash")}
	if _, err := fmt.Sscan(arg(d, "nth", "1"), &f.nth); err != nil {
		return err
	}
	r.faults = append(r.faults, f)
	return nil
}

func (r *rig) onPoint(p *sim.Passage) sim.Action {
	if r.note != nil {
		r.note(p)
	}
	if r.act != nil {
		return r.act(p)
	}
	for _, f := range r.faults {
		if f.site != p.Site || f.node != "" && f.node != string(p.Node) {
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
		return sim.Action{Pause: duration(param)}
	case "kill":
		task, node := p.Task, p.Node
		r.world.At(r.world.Now(), func() {
			r.world.Interrupt(node, func(t string) bool { return t == task }, status.New(status.Interrupted, "killed on purpose"))
		})
		return sim.Action{Pause: time.Millisecond}
	case "stepdown":
		node := p.Node
		r.world.At(r.world.Now(), func() { r.stepDown(node) })
	}
	return sim.Action{}
}

func (r *rig) stepDown(id env.NodeID) {
	if m := r.cluster.Member(id); m != nil {
		r.world.Node(id).Spawn(nil, "stepdown", func(t env.Task) { _ = m.StepDown(t) })
	}
}

// hold keeps back requests of a kind, which the sender takes for lost. A copy travels as well, so that only the double is
// late.
func (r *rig) hold(d *datadriven.TestData) error {
	kind := "*command." + d.CmdArgs[0].Key
	match := func(m *sim.Message) bool {
		e, ok := m.Body.(*rpc.Envelope)
		return ok && m.Call && fmt.Sprintf("%T", e.Body) == kind
	}
	if d.HasArg("copy") {
		r.world.AddRule(sim.Rule{Match: match, Count: 1, Fate: sim.Fate{Duplicate: true, Later: duration(arg(d, "copy", "1s"))}})
		return nil
	}
	r.held = r.world.AddRule(sim.Rule{Match: match, Hold: true, Count: 1})
	return nil
}

func (r *rig) begin(d *datadriven.TestData) {
	if from := arg(d, "donor", ""); from != "" { // past the config server, which would try again
		r.ask(d, from, &command.ShardsvrMoveRange{NS: ns, Min: bound(arg(d, "min", "min")), Max: bound(arg(d, "max", "max")), To: arg(d, "to", "shard-b")})
		return
	}
	r.ask(d, "config", &command.MoveRange{
		NS: ns, Min: bound(arg(d, "min", "min")), Max: bound(arg(d, "max", "max")), To: arg(d, "to", "shard-b"), Name: "move",
		WaitDelete: d.HasArg("wait"), ForceJumbo: command.ForceJumbo(arg(d, "force", "")),
	})
}

func (r *rig) ask(d *datadriven.TestData, set string, req env.Message) {
	r.operator.send(func(t env.Task) {
		_, err := rpc.CallPrimary[command.Done](t, r.operator.sets[set], req, time.Minute)
		if err != nil {
			r.say("move to %s: %v", arg(d, "to", "shard-b"), err)
			return
		}
		r.say("move to %s: ok", arg(d, "to", "shard-b"))
	})
}

// scan reads everything, batch by batch, and says in the end what it got.
func (r *rig) scan(d *datadriven.TestData) {
	var size int
	if _, err := fmt.Sscan(arg(d, "batch", "4"), &size); err != nil {
		panic(err)
	}
	o := r.clients[1]
	o.send(func(t env.Task) {
		var got []string
		a := o.user.Scan(t, command.Find{NS: ns, BatchSize: size, Concern: command.MajorityRead}, func(batch []bson.Raw) {
			for _, doc := range batch {
				got = append(got, fmt.Sprint(doc.Lookup("k").Int64()))
			}
		})
		r.say("scan: %v %s", a.Certainty, strings.Join(got, " "))
	})
}

func (r *rig) move(d *datadriven.TestData) error {
	r.begin(d)
	return r.until(2*time.Minute, "the move is answered", func() bool { return r.idle() })
}

func (r *rig) write(d *datadriven.TestData) error {
	for _, k := range list(d, "keys") {
		var n int64
		if _, err := fmt.Sscan(k, &n); err != nil {
			return err
		}
		r.operator.send(func(t env.Task) { r.upsert(t, r.operator, n, arg(d, "v", "new")) })
	}
	return nil
}

func (r *rig) upsert(t env.Task, o *operator, k int64, v string) {
	a := o.user.Update(t, command.Update{
		NS: ns, Filter: raw(bson.D{{Key: "k", Value: k}}), Change: doc(k, v), Upsert: true, Concern: command.Majority,
	})
	if a.Certainty != client.OK {
		r.say("write %d: %v %v", k, a.Certainty, a.Err)
		return
	}
	r.wrote[k] = v
}

func (r *rig) settle() error {
	r.faults = nil
	for id := range r.down {
		r.world.Restart(id)
	}
	r.down = map[env.NodeID]bool{}
	err := r.until(3*time.Minute, "the cluster is at rest", func() bool {
		return r.idle() && len(r.cluster.Outstanding()) == 0
	})
	if err != nil {
		return err
	}
	return r.show()
}

// show prints who owns what, and fails when a shard holds a document that it does not own or lacks one.
func (r *rig) show() error {
	table, err := r.cluster.Catalog(ns)
	if err != nil {
		return err
	}
	for c := range table.Chunks() {
		r.say("%v %s", c.Range, c.Shard)
	}
	now := map[int64]string{}
	for _, name := range r.cluster.Topology().ShardNames() {
		var held []string
		m := r.cluster.Member(r.cluster.Primary(name))
		m.Store().ScanKey(ns, key.Everything, store.Latest, store.Place{}, func(k key.Key, _ string, d bson.Raw) bool {
			if !table.OwnsKey(name, k) {
				err = fmt.Errorf("%s holds the orphan %v", name, k)
			}
			now[d.Lookup("k").Int64()] = d.Lookup("v").StringValue()
			held = append(held, fmt.Sprintf("%v=%s", k, d.Lookup("v").StringValue()))
			return true
		})
		r.say("%s: %s", name, strings.Join(held, " "))
	}
	for k, v := range r.wrote {
		if now[k] != v {
			err = fmt.Errorf("document %d is %q, but %q was acknowledged", k, now[k], v)
		}
	}
	return err
}

func (r *rig) say(format string, args ...any) {
	fmt.Fprintf(&r.out, format+"\n", args...)
}

// Observe tells the events of a migration.
func (r *rig) Observe(e *event.Event) {
	rng := key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)}
	switch e.Kind {
	case event.Applied:
		if r.applied {
			r.say("%v %s applied %s %v %v term %d index %d hash %x id %s", time.Duration(e.At), e.Node, e.Actor, key.Key(e.Key), e.NS, e.Term, e.Index, e.Hash&0xffff, e.ID)
		}
	case event.MigrationRequested:
		r.say("%s requested %v to %s", e.ID, rng, e.Peer)
	case event.DonorState, event.RecipientState, event.DecisionMade, event.RangeDeletion:
		r.say("%s %v %s %s", e.Node, e.Kind, e.ID, e.Value)
	case event.MigrationEnded:
		r.say("%s %v %s %s%s", e.Node, e.Kind, e.ID, e.Value, [...]string{"", " by recovery"}[e.N])
	case event.CriticalSection:
		if r.leads(e) {
			r.say("%s %v of %v %s", e.Node, e.Kind, e.Actor, e.Value)
		}
	case event.Elected:
		r.say("%s elected in term %d", e.Node, e.Term)
	}
}

// leads leaves out what followers hold.
func (r *rig) leads(e *event.Event) bool {
	return r.cluster != nil && string(r.cluster.Primary(e.Shard)) == e.Node
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

func nodeOf(d *datadriven.TestData) env.NodeID { return env.NodeID(d.CmdArgs[0].Key) }
