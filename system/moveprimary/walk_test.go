package moveprimary_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// TestWalks takes clusters through moves of a primary; each script is a story, and shows the phases, the critical
// sections, the catalogue, and in the end who holds what.
func TestWalks(t *testing.T) {
	datadriven.Walk(t, "testdata/walks", func(t *testing.T, path string) {
		r := &rig{t: t}
		defer r.close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r.out.Reset()
			if err := r.verb(d); err != nil {
				d.Fatalf(t, "%v\nso far:\n%s", err, r.out.String())
			}
			return r.out.String()
		})
	})
}

func (r *rig) verb(d *datadriven.TestData) error {
	switch d.Cmd {
	case "cluster": // docs=9: a third of them in the sharded collection, a third in each unsharded one
		return r.found(int(number(d, "docs")))
	case "fault": // site [nth=1] [set=shard-a] do=crash|error|pause:500ms: what happens when the site is passed
		return r.plan(d)
	case "begin": // to=shard-b: asks for the move and does not wait
		r.move(arg(d, "to", "shard-b"))
		return nil
	case "move": // to=shard-b
		r.move(arg(d, "to", "shard-b"))
		return r.until(2*time.Minute, "the move is answered", r.idle)
	case "write": // key=1 txn=1 v=x: through a router; the same txn again is a retry
		r.statement(d)
		return r.until(2*time.Minute, "the write is answered", r.idle)
	case "late": // key=1 txn=1 v=x: the same without waiting
		r.statement(d)
		return nil
	case "recreate": // shard-a: drops and makes the collection anew behind the back of the move
		r.recreate(d.CmdArgs[0].Key)
		return r.pass("20ms")
	case "hold": // CommitMovePrimary: keeps the next message of the kind back, which its sender takes for lost
		return r.hold(d)
	case "release": // lets go what was kept back
		r.world.Release(r.held)
		return r.pass("50ms")
	case "pass": // 50ms: lets time go by
		return r.pass(d.CmdArgs[0].Key)
	case "settle": // restarts what is down, waits until nothing is outstanding, shows who holds what
		return r.settle()
	}
	return fmt.Errorf("unknown verb %s", d.Cmd)
}

func (r *rig) pass(d string) error {
	span, err := time.ParseDuration(d)
	if err != nil {
		return err
	}
	r.world.Run(nil, r.world.Now().Add(span))
	return r.world.Err()
}

func (r *rig) plan(d *datadriven.TestData) error {
	site, ok := point.Parse(d.CmdArgs[0].Key)
	if !ok {
		return fmt.Errorf("there is no site %s", d.CmdArgs[0].Key)
	}
	f := &fault{site: site, nth: 1, set: arg(d, "set", ""), do: arg(d, "do", "crash")}
	if d.HasArg("nth") {
		f.nth = int(number(d, "nth"))
	}
	r.faults = append(r.faults, f)
	return nil
}

func (r *rig) hold(d *datadriven.TestData) error {
	kind := "*command." + d.CmdArgs[0].Key
	r.held = r.world.AddRule(sim.Rule{Hold: true, Count: 1, Match: func(m *sim.Message) bool {
		e, ok := m.Body.(*rpc.Envelope)
		return ok && m.Call && fmt.Sprintf("%T", e.Body) == kind
	}})
	return nil
}

func (r *rig) settle() error {
	r.faults = nil
	for id := range r.down {
		r.world.Restart(id)
	}
	clear(r.down)
	err := r.until(3*time.Minute, "the cluster is at rest", func() bool { return r.idle() && len(r.cluster.Outstanding()) == 0 })
	if err == nil {
		r.show()
	}
	return err
}

func arg(d *datadriven.TestData, name, otherwise string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return otherwise
}

func number(d *datadriven.TestData, name string) (n int64) {
	if _, err := fmt.Sscan(arg(d, name, "1"), &n); err != nil {
		panic(fmt.Sprintf("%s wants a number: %v", name, err))
	}
	return n
}

// TestLateDrop: a message that undoes a copy arrives when a later move has brought the data for good.
func TestLateDrop(t *testing.T) {
	r := &rig{t: t}
	defer r.close()
	if err := r.found(9); err != nil {
		t.Fatal(err)
	}
	r.faults = append(r.faults, &fault{site: point.MovePrimaryChecked, nth: 1, do: "error"})
	var drop command.DropClonedData
	r.world.AddRule(sim.Rule{Count: 1, Match: func(m *sim.Message) bool {
		e, ok := m.Body.(*rpc.Envelope)
		if !ok || !m.Call {
			return false
		}
		late, ok := e.Body.(*command.DropClonedData)
		if ok {
			drop = *late
		}
		return ok
	}})
	for range 2 { // the first is given up
		r.move("shard-b")
		if err := r.until(time.Minute, "the move is answered", r.idle); err != nil {
			t.Fatal(err)
		}
	}
	var refused error
	r.operator.send(func(t env.Task) {
		_, refused = rpc.Call[command.Done](t, r.operator.ep, r.cluster.Primary("shard-b"), &drop, time.Minute)
	})
	if err := r.until(time.Minute, "the late message is answered", r.idle); err != nil {
		t.Fatal(err)
	}
	if _, exists := r.cluster.Member(r.cluster.Primary("shard-b")).Store().Options(plain); len(drop.Collections) != 2 || refused == nil || !exists {
		t.Errorf("the late drop of %v was answered %v; the collection exists: %t\n%s", drop.Collections, refused, exists, r.out.String())
	}
}
