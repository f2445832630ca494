package changestream_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

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
)

const ns = "test.docs"

// walk is a cluster of three shards, a client who writes and moves ranges, and readers of change streams by name.
type walk struct {
	out      strings.Builder
	world    *sim.World
	cluster  *system.Cluster
	settings settings.Settings
	client   *client.Client
	direct   *rpc.Endpoint
	readers  map[string]*reader
	tokens   map[string]command.Token
	stops    map[point.Site]*sim.Latch
	stopped  []*sim.Latch
	crashes  map[point.Site]bool
}

type reader struct {
	stream *client.Stream
	upto   command.Token
}

// TestWalks takes change streams through migrations and failovers; the verbs are those of (*walk).do.
func TestWalks(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &walk{readers: map[string]*reader{}, tokens: map[string]command.Token{}, stops: map[point.Site]*sim.Latch{}, crashes: map[point.Site]bool{}}
		defer func() { w.world.Close() }()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			if err := w.do(d); err != nil {
				d.Fatalf(t, "%v\nso far:\n%s", err, w.out.String())
			}
			return w.out.String()
		})
	})
}

func (w *walk) do(d *datadriven.TestData) error {
	switch d.Cmd {
	case "cluster": // bounds=(10,20) retention=2000: chunk i on shard i mod 3
		return w.found(d)
	case "write": // KEY VALUE...: an upsert of the value through a router
		return w.task(d, true, w.write)
	case "delete": // KEY
		return w.task(d, true, w.erase)
	case "direct": // shard-a KEY VALUE: an update that asks the shard itself, without a version
		return w.task(d, true, w.writeDirectly)
	case "move": // MIN MAX shard-b [async]
		return w.task(d, !d.HasArg("async"), w.move)
	case "drop": // the collection
		return w.task(d, true, func(t env.Task, _ []datadriven.CmdArg) (string, error) {
			return "ok", w.client.DropCollection(t, ns).Err
		})
	case "rename": // NAME: the collection has the name now
		return w.task(d, true, func(t env.Task, args []datadriven.CmdArg) (string, error) {
			return "ok", w.client.RenameCollection(t, ns, args[0].Key, false).Err
		})
	case "create": // the collection anew, on shard-b alone
		return w.task(d, true, func(t env.Task, _ []datadriven.CmdArg) (string, error) {
			return "ok", w.client.ShardCollection(t, command.ShardCollection{NS: ns, Key: key.Pattern{Field: "k"}, Shards: []string{"shard-b"}}).Err
		})
	case "watch": // NAME [after=TOKEN]: opens a stream, from now on or behind a token
		return w.task(d, true, w.watch)
	case "read": // NAME [for=200ms] [token=TOKEN]: asks for changes for a while, and remembers where it is
		return w.task(d, true, w.read)
	case "stop": // SITE: whoever passes the site waits there
		w.stops[w.site(d)] = &sim.Latch{}
	case "go": // everybody who waits goes on
		for _, l := range w.stopped {
			l.Open()
		}
		w.stopped, w.stops = nil, map[point.Site]*sim.Latch{}
		return w.pass(300 * time.Millisecond)
	case "crash": // SITE: the next node at the site crashes, and comes back after a second
		w.crashes[w.site(d)] = true
	case "cut": // shard-b: its primary hears nobody any more
		w.each(d, w.world.Partition)
	case "heal": // shard-b
		w.each(d, w.world.Heal)
		return w.pass(time.Second)
	default:
		return fmt.Errorf("unknown verb %s", d.Cmd)
	}
	return nil
}

func (w *walk) site(d *datadriven.TestData) point.Site {
	site, ok := point.Parse(d.CmdArgs[0].Key)
	if !ok {
		panic("there is no site " + d.CmdArgs[0].Key)
	}
	return site
}

func (w *walk) each(d *datadriven.TestData, do func(a, b env.NodeID, oneWay bool)) {
	members := w.cluster.Topology().MembersOf(d.CmdArgs[0].Key)
	for _, other := range w.cluster.Servers() {
		for _, m := range members {
			if other != m {
				do(m, other, false)
			}
		}
	}
}

func (w *walk) found(d *datadriven.TestData) error {
	w.settings = settings.Default80()
	w.settings.OrphanCleanupDelay, w.settings.RetryBackoff = 50*time.Millisecond, 20*time.Millisecond
	w.settings.CommandTimeout, w.settings.AttemptTimeout = 200*time.Millisecond, 500*time.Millisecond
	coll := system.Collection{NS: ns, Key: key.Pattern{Field: "k"}}
	for _, a := range d.CmdArgs {
		for _, text := range a.Vals {
			var n int64
			if _, err := fmt.Sscan(text, &n); err != nil {
				return err
			}
			if a.Key == "retention" {
				w.settings.LogRetention = int(n)
			} else {
				coll.Bounds = append(coll.Bounds, key.Int(n))
			}
		}
	}
	w.world = sim.New(sim.Options{Seed: 1, Codec: codec.BSON, OnPoint: w.onPoint, YieldMax: -1})
	top := system.Topology{Shards: 3, Members: 3, ConfigMembers: 3, Routers: 2, Clients: 1}
	var err error
	if w.cluster, err = system.Assemble(w.world, top, &w.settings, coll); err != nil {
		return err
	}
	w.world.AddNode("client.0", func(t env.Task) { w.client = w.cluster.NewClient(t.Node()) })
	w.world.AddNode("client.1", func(t env.Task) { w.direct = rpc.Listen(t.Node(), clock.New(t.Node())) })
	w.world.Run(w.cluster.Ready, env.Time(10*time.Second))
	return w.pass(200 * time.Millisecond)
}

func (w *walk) pass(d time.Duration) error {
	w.world.Run(nil, w.world.Now().Add(d))
	return w.world.Err()
}

func (w *walk) onPoint(p *sim.Passage) sim.Action {
	switch latch := w.stops[p.Site]; {
	case w.crashes[p.Site]:
		delete(w.crashes, p.Site)
		node := p.Node
		w.world.At(w.world.Now().Add(time.Second), func() { w.world.Restart(node) })
		fmt.Fprintf(&w.out, "  %s crashes at %s\n", node, p.Site)
		return sim.Action{Crash: true}
	case latch != nil:
		w.stopped = append(w.stopped, latch)
		fmt.Fprintf(&w.out, "  %s waits at %s\n", p.Node, p.Site)
		return sim.Action{Until: latch}
	}
	return sim.Action{}
}

// task runs a verb on the client's node, and waits for its end or for a quarter of a second.
func (w *walk) task(d *datadriven.TestData, wait bool, do func(env.Task, []datadriven.CmdArg) (string, error)) error {
	verb, args, ended := d.Cmd, d.CmdArgs, false
	w.world.Node("client.0").Spawn(nil, verb, func(t env.Task) {
		text, err := do(t, args)
		if err != nil {
			text = err.Error()
		}
		fmt.Fprintf(&w.out, "%s: %s\n", verb, text)
		ended = true
	})
	if !wait {
		return w.pass(250 * time.Millisecond)
	}
	w.world.Run(func() bool { return ended }, w.world.Now().Add(time.Minute))
	return w.world.Err()
}

func number(text string) (n int64) {
	if _, err := fmt.Sscan(text, &n); err != nil {
		panic(err)
	}
	return n
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

func (w *walk) write(t env.Task, args []datadriven.CmdArg) (string, error) {
	k := number(args[0].Key)
	for _, v := range args[1:] {
		a := w.client.Update(t, command.Update{
			NS: ns, Filter: raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}}), Upsert: true, Concern: command.Majority,
			Change: raw(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: v.Key}}}}),
		})
		if a.Err != nil {
			return "", a.Err
		}
	}
	return "ok", nil
}

func (w *walk) erase(t env.Task, args []datadriven.CmdArg) (string, error) {
	a := w.client.Delete(t, command.Delete{NS: ns, Filter: raw(bson.D{{Key: "k", Value: number(args[0].Key)}}), Concern: command.Majority})
	return fmt.Sprintf("%d", a.Written.N), a.Err
}

func (w *walk) writeDirectly(t env.Task, args []datadriven.CmdArg) (string, error) {
	got, err := rpc.Call[command.Written](t, w.direct, w.cluster.Primary(args[0].Key), &command.Update{
		NS: ns, Filter: raw(bson.D{{Key: "k", Value: number(args[1].Key)}}), Concern: command.Majority,
		Change: raw(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: args[2].Key}}}}),
	}, time.Second)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d", got.N), nil
}

func (w *walk) move(t env.Task, args []datadriven.CmdArg) (string, error) {
	move := command.MoveRange{NS: ns, Min: bound(args[0].Key), Max: bound(args[1].Key), To: args[2].Key}
	return "ok", w.client.MoveRange(t, move, time.Minute)
}

func bound(s string) key.Key {
	switch s {
	case "min":
		return key.Min
	case "max":
		return key.Max
	}
	return key.Int(number(s))
}

func (w *walk) watch(t env.Task, args []datadriven.CmdArg) (string, error) {
	op := command.Watch{NS: ns}
	if len(args) > 1 {
		op.Resume, op.After = true, w.tokens[args[1].Vals[0]]
	}
	stream, batch, err := w.client.Watch(t, op)
	if err != nil {
		return "", err
	}
	w.readers[args[0].Key] = &reader{stream, batch.Upto}
	return "open", nil
}

// read polls for a while and prints the changes.
func (w *walk) read(t env.Task, args []datadriven.CmdArg) (string, error) {
	r, span := w.readers[args[0].Key], 200*time.Millisecond
	for _, a := range args[1:] {
		if a.Key == "for" {
			span, _ = time.ParseDuration(a.Vals[0])
		}
	}
	n, what := 0, "changes"
	for ends := w.world.Now().Add(span); w.world.Now() < ends; {
		batch, err := r.stream.Next(t, 0)
		if err != nil {
			return "", err
		}
		for _, c := range batch.Changes {
			n++
			if c.Key == nil {
				fmt.Fprintf(&w.out, "  %s: %s\n", c.Token.Shard, strings.TrimSpace(string(c.Kind)+" "+c.To))
				r.upto = c.Token
				continue
			}
			v, _ := c.Doc.Lookup("v").StringValueOK()
			fmt.Fprintf(&w.out, "  %s: %s %d %s\n", c.Token.Shard, c.Kind, c.Key.Lookup("_id").Int64(), v)
			r.upto = c.Token
		}
		if batch.Upto.Compare(r.upto) < 0 {
			return "", fmt.Errorf("the mark %s is before the change %s", batch.Upto, r.upto)
		}
		r.upto = batch.Upto
		if batch.Stream == "" {
			what = "changes, and the stream has ended"
			break
		}
		if err := t.Sleep(10 * time.Millisecond); err != nil {
			return "", err
		}
	}
	for _, a := range args[1:] {
		if a.Key == "token" {
			w.tokens[a.Vals[0]] = r.upto
		}
	}
	return fmt.Sprintf("%d %s", n, what), nil
}
