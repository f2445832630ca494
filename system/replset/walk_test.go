package replset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

// walk is a cluster driven by a script. Every command prints its result and then what the set said
// meanwhile.
type walk struct {
	*cluster
	told    int
	blocked bool
}

func TestWalk(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &walk{}
		defer func() {
			if w.cluster != nil {
				w.world.Close()
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := w.command(t, d)
			if err := w.world.Err(); err != nil {
				return out + err.Error()
			}
			return out + w.news()
		})
	})
}

func (w *walk) command(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "cluster":
		w.assemble(t, d)
	case "run":
		d, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		w.run(d, nil)
	case "elect":
		w.elect()
	case "write":
		return w.put(t, d)
	case "confirm":
		return w.ask(w.node(d), func(t env.Task, m *Member) error { return m.Confirm(t) })
	case "stepdown":
		return w.ask(w.node(d), func(t env.Task, m *Member) error { return m.StepDown(t) })
	case "state":
		return w.state()
	default:
		return w.fault(t, d)
	}
	return ""
}

func (w *walk) node(d *datadriven.TestData) env.NodeID { return env.NodeID(d.CmdArgs[0].Key) }

func (w *walk) fault(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "crash":
		w.world.Crash(w.node(d))
	case "restart":
		w.world.Restart(w.node(d))
	case "isolate":
		for _, other := range w.ids {
			if other != w.node(d) {
				w.world.Partition(w.node(d), other, false)
			}
		}
	case "heal":
		w.world.HealNetwork()
	case "slow":
		w.world.SetDiskSlowness(w.node(d), 50000, 0)
	case "fast":
		w.world.SetDiskSlowness(w.node(d), 1, 0)
	case "block-stepup":
		w.blocked = !d.HasArg("off")
	default:
		t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	}
	return ""
}

func (w *walk) assemble(t *testing.T, d *datadriven.TestData) {
	n, seed, retention := 3, uint64(1), 0
	d.MaybeScanArgs(t, "members", &n)
	d.MaybeScanArgs(t, "seed", &seed)
	w.cluster = newCluster(n, sim.Options{Seed: seed})
	if d.MaybeScanArgs(t, "retention", &retention) {
		w.settings.LogRetention = retention
	}
	w.stepUp = func(env.Task) error {
		if w.blocked {
			return errcode.New(errcode.FailPointEnabled, "blocked")
		}
		return nil
	}
	w.start()
}

// put writes the values of the command's input, one entry a line.
func (w *walk) put(t *testing.T, d *datadriven.TestData) string {
	wc, concern, timeout := command.WriteConcern{Timeout: time.Second}, "", ""
	if d.MaybeScanArgs(t, "timeout", &timeout); timeout != "" {
		wc.Timeout, _ = time.ParseDuration(timeout)
	}
	switch d.MaybeScanArgs(t, "w", &concern); concern {
	case "majority":
		wc.Majority = true
	case "":
	default:
		fmt.Sscan(concern, &wc.W)
	}
	var out strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		id, value, _ := strings.Cut(line, " ")
		var n int64
		fmt.Sscan(id, &n)
		at, err := w.write(w.node(d), wc, put(n, value))
		fmt.Fprintf(&out, "%s: %s\n", at, outcome(err))
	}
	return out.String()
}

func (w *walk) ask(id env.NodeID, fn func(env.Task, *Member) error) string {
	var err error
	if !w.do(id, func(t env.Task, m *Member) { err = fn(t, m) }) {
		return "no answer\n"
	}
	return outcome(err) + "\n"
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// state prints what every member holds: all of it, and what a majority has.
func (w *walk) state() string {
	var out strings.Builder
	for _, id := range w.ids {
		m := w.members[id]
		if !w.world.Up(id) || m == nil {
			fmt.Fprintf(&out, "%s down\n", id)
			continue
		}
		role := "secondary"
		if m.Leading() {
			role = "leading"
		}
		if m.IsPrimary() {
			role = "primary"
		}
		fmt.Fprintf(&out,
			"%s %s of term %d, vote %d, hint %q, applied %s %s, committed %s %s, log from %s, "+
				"terms %s\n", id, role, m.Term(), m.raft.BasicStatus().Vote, m.PrimaryHint(),
			m.Applied(), values(m, store.Latest), m.Committed(),
			values(m, m.ReadAt(command.MajorityRead)), m.log.base, describeTerms(m.log.terms))
	}
	return out.String()
}

func values(m *Member, at uint64) []string {
	var all []string
	m.store.Scan(testNS, at, func(_ string, doc bson.Raw) bool {
		all = append(all, doc.Lookup("v").StringValue())
		return true
	})
	return all
}

// news prints what the set said since the last command.
func (w *walk) news() string {
	var out strings.Builder
	for _, e := range w.events[w.told:] {
		fmt.Fprintf(&out, "  %s %s", e.Node, e.Kind)
		if e.Term != 0 {
			fmt.Fprintf(&out, " term %d", e.Term)
		}
		if e.Kind != trace.Writable && e.Kind != trace.SteppedDown {
			fmt.Fprintf(&out, " index %d", e.Index)
		}
		if e.Log() != "" {
			fmt.Fprintf(&out, " log %s", e.Log())
		}
		out.WriteByte('\n')
	}
	w.told = len(w.events)
	return out.String()
}
