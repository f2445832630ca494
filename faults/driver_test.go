package faults

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// fake is a World that writes down what is done to it.
type fake struct {
	out    strings.Builder
	now    env.Time
	agenda []planned
	down   map[env.NodeID]bool
}

type planned struct {
	at env.Time
	fn func()
}

func (f *fake) say(format string, args ...any) {
	fmt.Fprintf(&f.out, "%-6s %s\n", time.Duration(f.now), fmt.Sprintf(format, args...))
}

func (f *fake) Now() env.Time            { return f.now }
func (f *fake) At(t env.Time, fn func()) { f.agenda = append(f.agenda, planned{t, fn}) }
func (f *fake) Up(id env.NodeID) bool    { return !f.down[id] }
func (f *fake) Crash(id env.NodeID)      { f.say("crash %s", id); f.down[id] = true }
func (f *fake) Restart(id env.NodeID)    { f.say("restart %s", id); delete(f.down, id) }
func (f *fake) StepDown(id env.NodeID)   { f.say("step down %s", id) }
func (f *fake) TakeOver(id env.NodeID)   { f.say("%s takes over", id) }
func (f *fake) Hurry()                   { f.say("the next command comes") }
func (f *fake) Nodes() []env.NodeID {
	return []env.NodeID{"config.0", "shard-a.0", "shard-a.1", "shard-b.0", "shard-b.1", "router.0"}
}

func (f *fake) Emit(e *trace.Event) {
	f.say("event %s %d %s at %s", e.Kind, e.FaultNumber(), e.FaultKind(), e.Peer)
}

func (f *fake) Choose(kind, site string, n int) int {
	f.say("asked %s %s of %d", kind, site, n)
	return n / 2
}

func (f *fake) Partition(from, to []env.NodeID, both bool) func() {
	f.say("cut %v from %v, both ways %t", from, to, both)
	return func() { f.say("heal %v from %v", from, to) }
}

func (f *fake) Interrupt(id env.NodeID, match func(string) bool, err error) {
	for _, task := range []string{"Insert", "Find", "RecvChunkStart", "session transfer"} {
		if match(task) {
			f.say("kill %s on %s: %v", task, id, err)
		}
	}
}

func (f *fake) SlowDisk(id env.NodeID, factor int) func() {
	f.say("disk of %s %d times slower", id, factor)
	return func() { f.say("disk of %s as before", id) }
}

func (f *fake) ShiftClock(id env.NodeID, jump time.Duration, ppm int) func() {
	f.say("clock of %s jumps %s, drifts %d ppm", id, jump, ppm)
	return func() { f.say("clock of %s right", id) }
}

func (f *fake) Disturb(r Rule) func() {
	f.say("disturb lose=%d reply=%d double=%d delay=%s hold=%t limit=%d requests=%t: %s",
		r.Lose, r.LoseReply, r.Duplicate, r.Delay, r.Hold, r.Limit, r.Requests, f.selected(r))
	return func() { f.say("undisturbed") }
}

// typed is a message that knows its type, as those of replication do.
type typed string

func (t typed) Class() string { return string(t) }

// selected shows which of a few sample messages a rule is about.
func (f *fake) selected(r Rule) string {
	var names []string
	for _, m := range []struct {
		from, to env.NodeID
		class    string
	}{
		{"shard-a.0", "shard-b.0", "RecvChunkStart"},
		{"shard-a.0", "config.0", "CommitChunkMigration"}, {"router.0", "shard-a.0", "Find"},
		{"shard-a.0", "shard-a.1", "MsgApp"}, {"shard-a.0", "shard-a.1", "MsgHeartbeat"},
	} {
		if r.From(m.from) && r.To(m.to) && (r.Class == nil || r.Class(m.class)) &&
			(r.Body == nil || r.Body(typed(m.class))) {
			names = append(names, m.class)
		}
	}
	return strings.Join(names, " ")
}

func (f *fake) advance(d time.Duration) {
	end := f.now.Add(d)
	for {
		sort.SliceStable(f.agenda, func(i, j int) bool { return f.agenda[i].at < f.agenda[j].at })
		if len(f.agenda) == 0 || f.agenda[0].at > end {
			f.now = end
			return
		}
		next := f.agenda[0]
		f.agenda = f.agenda[1:]
		f.now = next.at
		next.fn()
	}
}

// TestWalks carries out plans against a world that writes everything down. The commands are:
//
//	plan                    the faults, as lines of a scenario; starts the driver
//	elected NODE            the node becomes primary of its replica set
//	migrates FROM TO        a migration between two shards begins
//	pass SITE NODE          a task of the node passes the site, for a COMMAND and about an OBJECT
//	    COMMAND OBJECT      if these are given
//	advance DURATION        time goes by
//	end                     the faults' time is up
func TestWalks(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var w *fake
		var d *Driver
		term := uint64(0)
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			arg := func(i int) string {
				if i >= len(c.CmdArgs) {
					return ""
				}
				return c.CmdArgs[i].Key
			}
			if c.Cmd == "plan" {
				s, err := scenario.Parse("plan",
					"shardproof scenario 2\ntopology shards=2 members=2 config=1 routers=1 "+
						"clients=1\n"+c.Input)
				if err != nil {
					return err.Error()
				}
				for _, f := range s.Faults {
					if err := Check(f); err != nil {
						return err.Error()
					}
				}
				w, d = &fake{down: map[env.NodeID]bool{}}, New(s.Faults, nil)
				d.Start(w, 0)
				return "ok"
			}
			w.out.Reset()
			switch c.Cmd {
			case "elected":
				term++
				d.Observe(&trace.Event{
					Kind:  trace.Elected,
					Node:  arg(0),
					Shard: setOf(env.NodeID(arg(0))),
					Term:  term,
				})
			case "migrates":
				d.Observe(&trace.Event{Kind: trace.DonorAdvanced, Shard: arg(0), Peer: arg(1)})
			case "pass":
				w.pass(d, arg(0), env.NodeID(arg(1)), arg(2), arg(3))
			case "advance":
				by, err := time.ParseDuration(arg(0))
				if err != nil {
					t.Fatal(err)
				}
				w.advance(by)
			case "end":
				d.End()
			}
			return w.out.String()
		})
	})
}

func (f *fake) pass(d *Driver, name string, node env.NodeID, task, about string) {
	site, ok := failpoint.Parse(name)
	if !ok {
		f.say("no site %s", name)
		return
	}
	a := d.Point(node, task, site, env.Note{ID: about})
	if a.Crash {
		f.say("crash %s here", node)
		f.down[node] = true
	}
	if a.Err != nil {
		f.say("fails: %v", a.Err)
	}
	if a.Pause > 0 {
		f.say("pauses %s", a.Pause)
	}
	if a.Until != nil {
		f.say("stalls")
		a.Until(func() { f.say("goes on") })
	}
}

func TestDrawnFaultsAreValid(t *testing.T) {
	space := Space{
		Topology: scenario.Topology{
			Shards:        3,
			Members:       3,
			ConfigMembers: 3,
			Routers:       2,
			Clients:       6,
		},
		To:         time.Second,
		Migrations: 4,
	}
	for _, k := range All() {
		for seed := range 200 {
			f := Plan(k, 1, space, func(question string, n int) int {
				h := seed * 7919
				for _, c := range question {
					h = h*31 + int(c)
				}
				return (h%n + n) % n
			})
			if err := Check(f); err != nil {
				t.Errorf("%s: %v\n%s", k.Name, err, f)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	at := scenario.Trigger{At: time.Second}
	for _, c := range []struct {
		fault scenario.Fault
		want  string
	}{
		{
			scenario.Fault{Kind: "crush", When: at, Target: "shard-a.0"},
			`there is no fault "crush"; did you mean crash`,
		},
		{
			scenario.Fault{Kind: "crash", When: at, Target: "shard-a"},
			"needs a node such as shard-a.1",
		},
		{scenario.Fault{Kind: "hold", When: at, Target: "shard-a.0"}, "needs a link such as"},
		{scenario.Fault{Kind: "pause", When: at}, "needs a failpoint as its trigger"},
		{
			scenario.Fault{
				Kind:   "crash",
				When:   scenario.Trigger{Site: "donor.regster", Nth: 1},
				Target: "shard-a.0",
			},
			"did you mean donor.register",
		},
		{
			scenario.Fault{
				Kind:   "crash",
				When:   scenario.Trigger{Site: "donor.register"},
				Target: "shard-a.0",
			},
			"needs a number from 1",
		},
		{
			scenario.Fault{
				Kind:   "slow-disk",
				When:   at,
				Target: "shard-a.0",
				Args:   []scenario.Setting{{Name: "factor", Value: "1"}},
			},
			"not a whole number from 2",
		},
		{
			scenario.Fault{
				Kind:   "slow-disk",
				When:   at,
				Target: "shard-a.0",
				Args:   []scenario.Setting{{Name: "speed", Value: "1"}},
			},
			"it takes factor",
		},
		{
			scenario.Fault{
				Kind:   "crash",
				When:   at,
				Target: "shard-a.0",
				Args:   []scenario.Setting{{Name: "speed", Value: "1"}},
			},
			"it takes none",
		},
	} {
		if err := Check(c.fault); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", c.fault, err, c.want)
		}
	}
}
