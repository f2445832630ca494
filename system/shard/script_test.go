package shard

import (
	"fmt"
	"slices"
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
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

// TestScripts walks through what one shard does; a script is a list of the verbs below, each with
// what it shows: the events that happened meanwhile, and what was answered. Several lines in one
// command happen one after the other.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{}
		defer func() {
			if s.cluster != nil {
				s.world.Close()
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			if err := s.run(d); err != nil {
				d.Fatalf(t, "%v", err)
			}
			if s.world != nil {
				if err := s.world.Err(); err != nil {
					t.Fatalf("the world broke: %v", err)
				}
			}
			return s.out.String()
		})
	})
}

type cluster = testCluster

type script struct {
	*cluster
	out    strings.Builder
	router *catalog.Table // what the client believes
	noted  hlc.Timestamp  // a cluster time to read at or after
	held   map[failpoint.Site]*sim.Latch
	jobs   map[string]*job
}

// job is a request in progress.
type job struct {
	done   func() bool
	answer string
}

func (s *script) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

func (s *script) run(d *datadriven.TestData) error {
	for _, arg := range d.CmdArgs {
		if arg.Key == "as" {
			return s.start(arg.Vals[0], d)
		}
	}
	if fn := s.control(d); fn != nil {
		return fn()
	}
	if err := s.start("now", d); err != nil {
		return err
	}
	return s.await("now")
}

func (s *script) control(d *datadriven.TestData) func() error {
	return map[string]func() error{
		"new":     func() error { return s.fresh(d) },
		"await":   func() error { return s.await(d.CmdArgs[0].Key) },
		"pending": func() error { s.pending(); return nil },
		"route":   func() error { s.router = s.catalog; return nil },
		"move": func() error {
			s.move(s.bound(d, "min", key.Min), s.bound(d, "max", key.Max), str(d, "to"))
			return nil
		},
		"pause":   func() error { return s.pause(d.CmdArgs[0].Key) },
		"release": func() error { return s.release(d.CmdArgs[0].Key) },
		"pass":    func() error { return s.pass(str(d, "time")) },
		"crash":   func() error { return s.crash() },
		"isolate": func() error { s.isolate(); return nil },
		"heal": func() error {
			s.world.HealNetwork()
			s.cluster.run(5*time.Second, nil)
			return nil
		},
		"phases": func() error {
			for _, id := range s.ids {
				s.say("%s %s", id, s.servers[id].Collection(testNS).Phase())
			}
			return nil
		},
		"restart": func() error { s.restart(); return nil },
		"section": func() error { s.section(d); return nil },
		"clear":   func() error { s.primary().Collection(testNS).Clear(); return nil },
		"recover": func() error { s.recovery(d.CmdArgs[0].Key); return nil },
		"status":  func() error { s.status(); return nil },
		"import": func() error {
			return s.onPrimary(func(t env.Task, p *Server) string { return s.importStmt(t, p, d) })
		},
		"advance": func() error {
			return s.onPrimary(func(t env.Task, p *Server) string {
				return fmt.Sprint(p.AdvanceSession(t, str(d, "session"), num(d, "txn")))
			})
		},
		"acquire": func() error {
			return s.onPrimary(func(t env.Task, p *Server) string {
				return fmt.Sprint(p.AcquireRecoverable(t, testNS, d.CmdArgs[0].Key))
			})
		},
		"unblock": func() error {
			return s.onPrimary(func(t env.Task, p *Server) string {
				return fmt.Sprint(p.ReleaseRecoverable(t, testNS, d.CmdArgs[0].Key))
			})
		},
		"persist": func() error {
			return s.onPrimary(func(t env.Task, p *Server) string {
				return fmt.Sprint(p.PersistConfigTime(t))
			})
		},
		"heard": func() error {
			s.say("of the latest change: %t", s.primary().Clock().Now().Config >= s.changed)
			return nil
		},
		"signal": func() error {
			return s.onPrimary(func(t env.Task, p *Server) string {
				return fmt.Sprint(p.Collection(testNS).SignalSecondaries(t))
			})
		},
		"note": func() error { s.noted = s.client.Clock().Now().Cluster; return nil },
		"lose": func() error {
			s.secondary().Collection(testNS).LoseRange(key.Range{
				Min: s.bound(d, "min", key.Min),
				Max: s.bound(d, "max", key.Max),
			})
			return nil
		},
		"cut": func() error {
			s.world.Partition(s.primary().Node().ID(), s.secondary().Node().ID(), false)
			return nil
		},
		"rows":   func() error { s.rows(); return nil },
		"copies": func() error { s.copies(); return nil },
		"attach": func() error { return s.primary().Collection(testNS).SetDonor(tellDonor{s}) },
	}[d.Cmd]
}

func (s *script) fresh(d *datadriven.TestData) error {
	s.held, s.jobs = map[failpoint.Site]*sim.Latch{}, map[string]*job{}
	s.cluster = newTestCluster(int(num(d, "members")),
		sim.Options{Seed: 7, YieldMax: -1, OnPoint: s.onPoint, Codec: codec.BSON})
	var bounds []int64
	shards := []string{"shard-a", "shard-b"}
	for _, arg := range d.CmdArgs {
		if arg.Key == "bounds" {
			for _, v := range arg.Vals {
				bounds = append(bounds, whole(v))
			}
		}
		if arg.Key == "retention" {
			s.settings.LogRetention = int(whole(arg.Vals[0]))
		}
		if arg.Key == "cachebatch" {
			s.settings.CacheBatch = int(whole(arg.Vals[0]))
		}
	}
	if has(d, "terminate") {
		s.settings.TerminateReads = 1
	}
	s.catalog = foundingTable(bounds, shards...)
	s.create()
	s.router = s.catalog
	s.onEvent = s.tell
	return nil
}

func (s *script) bound(d *datadriven.TestData, name string, otherwise key.Key) key.Key {
	if has(d, name) {
		return key.Int(num(d, name))
	}
	return otherwise
}

// onPrimary runs what another package would do on the shard's primary.
func (s *script) onPrimary(fn func(t env.Task, p *Server) string) error {
	p := s.primary()
	j := &job{}
	j.done = s.on(p.Node().ID(), "script", func(t env.Task) { j.answer = fn(t, p) })
	s.jobs["script"] = j
	return s.await("script")
}

func (s *script) importStmt(t env.Task, p *Server, d *datadriven.TestData) string {
	st := oplog.Stmt{
		Session: str(d, "session"),
		Txn:     num(d, "txn"),
		ID:      int32(num(d, "stmt")),
		NS:      testNS,
		Key:     string(key.Int(num(d, "k"))),
		Result:  encodeResult(command.Written{N: 1, Modified: 1}),
		DeadEnd: has(d, "dead"),
	}
	written, err := p.Import(t, st, "m1", func() error { return nil })
	return fmt.Sprintf("written=%t %v", written, err)
}

// rows prints the sessions and the statements on record.
func (s *script) rows() {
	p := s.primary()
	for _, r := range p.Sessions() {
		s.say("%s txn %d", r.ID, r.Txn)
		complete := p.History(r, func(st *oplog.Stmt, _ oplog.Time) bool {
			s.say("  stmt %d of %s, dead end %t", st.ID, key.Key(st.Key), st.DeadEnd)
			return true
		})
		s.say("  complete %t", complete)
	}
}

// copies prints each member's copy of the routing table, and where in the log that was last
// written.
func (s *script) copies() {
	for _, id := range s.ids {
		if !s.world.Up(id) {
			continue
		}
		c := s.servers[id].Collection(testNS)
		table, err := c.copy(store.Latest)
		if err != nil {
			s.say("%v", err)
			continue
		}
		var chunks []string
		for chunk := range table.Chunks() {
			chunks = append(chunks, fmt.Sprintf("%s %s %d|%d",
				chunk.Range, chunk.Shard, chunk.Version.Major, chunk.Version.Minor))
		}
		s.say("%s: %s", id, strings.Join(chunks, ", "))
	}
}

// tell prints the events that the shard is about.
func (s *script) tell(e *trace.Event) {
	switch e.Kind {
	case trace.Applied:
		s.say("%s applied %s: %s %s %s", e.Node, e.NS, e.Actor, key.Key(e.Key), kindOf(e))
	case trace.MetadataInstalled:
		s.say("%s installed %s %s", e.Node, e.Version(), ranges(e.Chunks))
	case trace.MetadataCleared:
		s.say("%s cleared its metadata", e.Node)
	case trace.CriticalSection:
		s.say("%s critical section of %s %s: %s", e.Node, e.Actor, e.Migration(), e.State())
	case trace.CursorOpened, trace.CursorClosed:
		s.say("%s %s %s [%s, %s)", e.Node, e.Kind, e.Cursor(), key.Key(e.Min), key.Key(e.Max))
	case trace.Writable, trace.SteppedDown:
		s.say("%s %s", e.Node, e.Kind)
	}
}

func kindOf(e *trace.Event) string {
	if e.Hash == 0 {
		return "deleted"
	}
	return "set"
}

func ranges(chunks []trace.Chunk) string {
	var parts []string
	for _, c := range chunks {
		parts = append(parts, key.Range{Min: key.Key(c.Min), Max: key.Key(c.Max)}.String())
	}
	return strings.Join(parts, " ")
}

func (s *script) onPoint(p *sim.PointHit) sim.Action { return sim.Action{Until: s.held[p.Site]} }

func (s *script) pause(site string) error {
	at, ok := failpoint.Parse(site)
	if !ok {
		return fmt.Errorf("no site %s", site)
	}
	s.held[at] = &sim.Latch{}
	return nil
}

func (s *script) release(site string) error {
	at, _ := failpoint.Parse(site)
	latch := s.held[at]
	delete(s.held, at)
	latch.Open()
	return nil
}

func (s *script) pass(d string) error {
	span, err := time.ParseDuration(d)
	s.cluster.run(span, nil)
	return err
}

// secondary is the first member that is not primary.
func (s *script) secondary() *Server {
	for _, id := range s.ids {
		if id != s.primary().Node().ID() {
			return s.servers[id]
		}
	}
	return nil
}

// crash ends the primary and waits for the next one.
func (s *script) crash() error {
	s.world.Crash(s.primary().Node().ID())
	s.elect()
	return nil
}

func (s *script) restart() {
	for _, id := range s.ids {
		s.world.Restart(id)
	}
	s.cluster.run(5*time.Second, nil)
	s.elect()
}

func (s *script) section(d *datadriven.TestData) {
	c, h := s.primary().Collection(testNS), Holder{trace.Donor, "m1"}
	switch d.CmdArgs[0].Key {
	case "writes":
		c.EnterWrites(h)
	case "reads":
		c.EnterReads(h)
	case "leave":
		c.Leave(h)
	}
}

func (s *script) recovery(what string) {
	c := s.primary().Collection(testNS)
	if what == "begin" {
		c.BeginRecovery("m1")
		c.Clear()
		return
	}
	c.EndRecovery("m1")
}

func (s *script) status() {
	c := s.primary().Collection(testNS)
	if md := c.Metadata(); md == nil {
		s.say("unknown, %s", c.Phase())
	} else {
		s.say("%s owns %v, %s", md.Version(), md.Owned(), c.Phase())
	}
	s.say("in use: %v", c.InUse(key.Everything))
}

type tellDonor struct{ s *script }

func (d tellDonor) OnWrite(op *oplog.Op, pre bson.Raw, _ oplog.Time) {
	d.s.say("donor sees %s: %v -> %v", op.Kind, pre, op.Doc)
}

func whole(v string) int64 { return must(strconv.ParseInt(v, 10, 64)) }

func num(d *datadriven.TestData, name string) int64 {
	if v := str(d, name); v != "" {
		return whole(v)
	}
	return 0
}

func str(d *datadriven.TestData, name string) string {
	for _, arg := range d.CmdArgs {
		if arg.Key == name && len(arg.Vals) > 0 {
			return arg.Vals[0]
		}
	}
	return ""
}

func has(d *datadriven.TestData, name string) bool {
	return slices.ContainsFunc(d.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == name })
}

// await runs the world until the job is done.
func (s *script) await(name string) error {
	j := s.jobs[name]
	if end := s.cluster.run(time.Hour, j.done); end != sim.Stopped {
		return fmt.Errorf("%s is not answered: %s", name, end)
	}
	s.say("%s", j.answer)
	delete(s.jobs, name)
	return nil
}

func (s *script) pending() {
	for _, name := range slices.Sorted(keysOf(s.jobs)) {
		state := "waits"
		if s.jobs[name].done() {
			state = "done"
		}
		s.say("%s %s", name, state)
	}
}

func (s *script) start(name string, d *datadriven.TestData) error {
	req := s.request(d)
	if req == nil {
		return fmt.Errorf("no verb %s", d.Cmd)
	}
	to := s.primary().Node().ID()
	if has(d, "secondary") {
		to = s.secondary().Node().ID()
	}
	j := &job{}
	j.done = s.on("client.0", d.Cmd, func(t env.Task) { j.answer = s.send(t, to, req) })
	s.jobs[name] = j
	if name != "now" {
		s.cluster.run(50*time.Millisecond, j.done)
	}
	return nil
}

func keysOf(m map[string]*job) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
