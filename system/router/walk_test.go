package router_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

const ns = "test.docs"

// walk is a router among shards and a config server that do as the script says. The truth is one table: shards refuse
// versions that are not of it, and own the documents that it says. Every key from 0 to 39 has a document.
type walk struct {
	world    *sim.World
	settings settings.Settings
	truth    *catalog.Table
	now      hlc.Timestamp // of the truth
	config   *rpc.Endpoint
	driver   *rpc.Endpoint
	out      strings.Builder
	answers  map[string][]errcode.Code
	plans    map[failpoint.Site]sim.Action
	late     *sim.Latch
	cursors  map[string][]bson.Raw
	pending  int
}

func newWalk() *walk {
	w := &walk{
		settings: settings.Default80(), now: hlc.At(1), answers: make(map[string][]errcode.Code),
		plans: make(map[failpoint.Site]sim.Action), late: &sim.Latch{}, cursors: make(map[string][]bson.Raw),
	}
	coll := catalog.Collection{NS: ns, UUID: "u", Epoch: "e", Timestamp: 1, Key: key.Pattern{Field: "k"}, AllowMigrations: true}
	shards := []string{"shard-a", "shard-b", "shard-c"}
	chunks, err := catalog.First(coll, []key.Key{key.Int(10), key.Int(20)}, shards)
	if err == nil {
		w.truth, err = catalog.NewTable(coll, chunks)
	}
	if err != nil {
		panic(err)
	}
	w.world = sim.New(sim.Options{Seed: 1, Codec: codec.BSON, OnPoint: w.onPoint, YieldMax: -1})
	w.world.AddNode("config.0", w.bootConfig)
	for _, name := range shards {
		for m := range 2 {
			w.world.AddNode(env.NodeID(fmt.Sprintf("%s.%d", name, m)), func(t env.Task) { w.bootShard(t, name) })
		}
	}
	w.world.AddNode("router.0", func(t env.Task) {
		ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
		sets := make(map[string]*rpc.Set)
		for _, name := range shards {
			sets[name] = rpc.NewSet(ep, name, []env.NodeID{env.NodeID(name + ".0"), env.NodeID(name + ".1")}, &w.settings)
		}
		router.New(ep, rpc.NewSet(ep, "config", []env.NodeID{"config.0"}, &w.settings), sets, &w.settings, protocol.V80)
	})
	w.world.AddNode("driver", func(t env.Task) { w.driver = rpc.Listen(t.Node(), hlc.New(t.Node())) })
	w.world.Run(func() bool { return w.driver != nil && w.config != nil }, env.Time(time.Second))
	return w
}

func (w *walk) bootConfig(t env.Task) {
	w.config = rpc.Listen(t.Node(), hlc.New(t.Node()))
	rpc.Handle(w.config, func(_ env.Task, _ env.NodeID, req *command.GetRoutingTable) (*command.RoutingUpdate, error) {
		u := &command.RoutingUpdate{Collection: w.truth.Collection(), Full: req.Since.IsZero(), At: w.now}
		u.Chunks = slices.Collect(w.truth.Chunks())
		if !u.Full {
			u.Chunks = w.truth.Since(req.Since)
		}
		fmt.Fprintf(&w.out, "  config: table since %d|%d, %d chunks\n", req.Since.Major, req.Since.Minor, len(u.Chunks))
		if code := w.planned("config"); code != "" {
			return nil, errcode.New(code, "as planned")
		}
		return u, nil
	})
}

// planned takes the next answer that the script wants of a shard; empty: the truth.
func (w *walk) planned(who string) (code errcode.Code) {
	if list := w.answers[who]; len(list) > 0 {
		code, w.answers[who] = list[0], list[1:]
	}
	if code == "ok" {
		code = ""
	}
	return code
}

func (w *walk) bootShard(t env.Task, name string) {
	ep, self := rpc.Listen(t.Node(), hlc.New(t.Node())), t.Node().ID()
	primary := strings.HasSuffix(string(self), ".0")
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
		fmt.Fprintf(&w.out, "  %s: hello\n", self)
		if w.answers[name+".1"] != nil {
			primary = !strings.HasSuffix(string(self), ".0")
		}
		return &command.HelloReply{Writable: primary}, nil
	})
	check := func(what string, p command.Placement) error {
		fmt.Fprintf(&w.out, "  %s: %s with %d|%d\n", self, what, p.Shard.Major, p.Shard.Minor)
		code := w.planned(name)
		if code == "" && p.Shard != w.truth.ShardVersion(name) {
			code = errcode.StaleConfig
		}
		if code != "" {
			fmt.Fprintf(&w.out, "  %s: answers %s\n", self, code)
			return errcode.New(code, "as planned")
		}
		return nil
	}
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.Insert) (*command.Written, error) {
		return &command.Written{N: 1}, check(fmt.Sprintf("insert %v stmt %d", req.Docs[0].Lookup("k"), req.Session.Stmt), req.Place)
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.Update) (*command.Written, error) {
		return &command.Written{N: 1, Modified: 1}, check("update", req.Place)
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.Find) (*command.Batch, error) {
		if err := check("find", req.Place); err != nil {
			return nil, err
		}
		return w.batch(fmt.Sprintf("%s/%d", name, len(w.cursors)+1), w.documents(name, req.Filter), req.BatchSize), nil
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.GetMore) (*command.Batch, error) {
		fmt.Fprintf(&w.out, "  %s: getMore %s\n", self, req.Cursor)
		if code := w.planned(name); code != "" || w.cursors[req.Cursor] == nil {
			return nil, errcode.New(errcode.CursorNotFound, "no cursor %s", req.Cursor)
		}
		return w.batch(req.Cursor, w.cursors[req.Cursor], req.BatchSize), nil
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.KillCursors) (*command.Done, error) {
		fmt.Fprintf(&w.out, "  %s: kill %v\n", self, req.Cursors)
		return &command.Done{}, nil
	})
}

func (w *walk) documents(shard string, filter bson.Raw) (docs []bson.Raw) {
	for k := range int64(40) {
		doc := raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}})
		if match, err := query.Match(filter, doc); err == nil && match && w.truth.OwnsKey(shard, key.Int(k)) {
			docs = append(docs, doc)
		}
	}
	return docs
}

func (w *walk) batch(cursor string, docs []bson.Raw, size int) *command.Batch {
	if size == 0 || len(docs) <= size {
		delete(w.cursors, cursor)
		return &command.Batch{Docs: docs}
	}
	w.cursors[cursor] = docs[size:]
	return &command.Batch{Cursor: cursor, Docs: docs[:size]}
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

func (w *walk) onPoint(p *sim.PointHit) sim.Action {
	do, planned := w.plans[p.Site]
	if planned {
		delete(w.plans, p.Site)
		fmt.Fprintf(&w.out, "  router is at %s\n", p.Site)
	}
	return do
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
	case "moved":
		w.moved(t, d)
	case "answers":
		for _, a := range d.CmdArgs[1:] {
			w.answers[d.CmdArgs[0].Key] = append(w.answers[d.CmdArgs[0].Key], errcode.Code(a.Key))
		}
	case "plan":
		site, ok := failpoint.Parse(d.CmdArgs[0].Key)
		if !ok {
			d.Fatalf(t, "no site %q", d.CmdArgs[0].Key)
		}
		w.plans[site] = map[string]sim.Action{
			"error": {Err: errcode.New(errcode.FailPointEnabled, "as planned")}, "hold": {Until: w.late},
		}[d.CmdArgs[1].Key]
	case "release":
		w.late.Open()
		w.late = &sim.Latch{}
		w.world.Run(func() bool { return w.pending == 0 }, w.world.Now().Add(10*time.Second))
	default:
		w.request(t, d)
	}
}

// moved changes the truth.
func (w *walk) moved(t *testing.T, d *datadriven.TestData) {
	var from, to string
	var min, max int64
	d.ScanArgs(t, "min", &min)
	d.ScanArgs(t, "max", &max)
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "to", &to)
	w.now += hlc.At(1)
	changed, err := catalog.Move(w.truth, key.Range{Min: key.Int(min), Max: key.Int(max)}, "shard-"+from, "shard-"+to, w.now, time.Minute)
	if err == nil {
		w.truth, err = w.truth.With(changed)
	}
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
}

// request sends one operation to the router. With "async" the script goes on meanwhile.
func (w *walk) request(t *testing.T, d *datadriven.TestData) {
	verb, args := d.Cmd, d.CmdArgs
	ended := false
	w.pending++
	w.driver.Node().Spawn(nil, verb, func(task env.Task) {
		text, err := w.send(task, verb, args)
		if err != nil {
			text = err.Error()
		}
		fmt.Fprintf(&w.out, "%s: %s\n", verb, text)
		ended = true
		w.pending--
	})
	span := 10 * time.Second
	if d.HasArg("async") {
		span = 50 * time.Millisecond
	}
	w.world.Run(func() bool { return ended }, w.world.Now().Add(span))
	w.world.Run(nil, w.world.Now().Add(5*time.Millisecond))
}

func (w *walk) send(t env.Task, verb string, args []datadriven.CmdArg) (string, error) {
	var session command.Session
	var n []int64
	for _, a := range args {
		if a.Key == "retryable" {
			session = command.Session{ID: "s", Txn: 1}
		}
		if k, err := strconv.ParseInt(a.Key, 10, 64); err == nil {
			n = append(n, k)
		}
	}
	switch verb {
	case "insert":
		var docs []bson.Raw
		for _, k := range n {
			docs = append(docs, raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}}))
		}
		return written(rpc.Call[command.Written](t, w.driver, "router.0", &command.Insert{NS: ns, Docs: docs, Session: session}, 0))
	case "update":
		filter := raw(bson.D{{Key: "k", Value: n[0]}})
		return written(rpc.Call[command.Written](t, w.driver, "router.0", &command.Update{NS: ns, Filter: filter, Change: filter, Session: session}, 0))
	case "scan":
		return w.scan(t, n[0], n[1], int(n[2]))
	}
	panic("no verb " + verb)
}

func written(r *command.Written, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("n %d", r.N), nil
}

func (w *walk) scan(t env.Task, min, max int64, size int) (string, error) {
	filter := raw(bson.D{{Key: "k", Value: bson.D{{Key: "$gte", Value: min}, {Key: "$lt", Value: max}}}})
	batch, err := rpc.Call[command.Batch](t, w.driver, "router.0", &command.Find{NS: ns, Filter: filter, BatchSize: size}, 0)
	var all []string
	for err == nil {
		var ks []string
		for _, doc := range batch.Docs {
			ks = append(ks, strconv.FormatInt(doc.Lookup("k").Int64(), 10))
		}
		all = append(all, strings.Join(ks, " "))
		if batch.Cursor == "" {
			break
		}
		batch, err = rpc.Call[command.Batch](t, w.driver, "router.0", &command.GetMore{Cursor: batch.Cursor, BatchSize: size}, 0)
	}
	text := strings.Join(all, " | ")
	if err != nil {
		text += " then " + err.Error()
	}
	return text, nil
}
