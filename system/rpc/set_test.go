package rpc_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// pair is a replica set of two members whose primary the test picks, and a caller.
type pair struct {
	world   *sim.World
	primary env.NodeID
	asked   []env.NodeID
}

var both = []env.NodeID{"set.0", "set.1"}

// run boots the members and has the caller do its part.
func (p *pair) run(t *testing.T, call func(task env.Task, set *rpc.Set)) {
	t.Helper()
	s := settings.Default80()
	p.world = sim.New(sim.Options{Seed: 1})
	defer p.world.Close()
	for _, id := range both {
		p.world.AddNode(id, func(t env.Task) {
			ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
			rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
				return &command.HelloReply{
					Writable: id == p.primary,
					Primary:  string(p.primary),
				}, nil
			})
			rpc.Handle(ep, func(env.Task, env.NodeID, *command.LogChange) (*command.Done, error) {
				p.asked = append(p.asked, id)
				if id != p.primary {
					return nil, errcode.New(errcode.NotWritablePrimary, "not here")
				}
				return &command.Done{}, nil
			})
		})
	}
	done := false
	p.world.AddNode("caller", func(t env.Task) {
		if t.Sleep(time.Millisecond) == nil {
			call(t, rpc.NewSet(rpc.Listen(t.Node(), hlc.New(t.Node())), "set", both, &s))
			done = true
		}
	})
	p.world.Run(nil, env.Time(time.Minute))
	if err := p.world.Err(); err != nil || !done {
		t.Fatalf("the caller is done: %t, %v", done, err)
	}
}

func TestPrimaryIsFoundAndFoundAgain(t *testing.T) {
	p := &pair{primary: "set.1"}
	p.run(t, func(task env.Task, set *rpc.Set) {
		log := func() error {
			_, err := rpc.CallPrimary[command.Done](task, set, &command.LogChange{}, time.Second)
			return err
		}
		if err := log(); err != nil {
			t.Errorf("the first call: %v", err)
		}
		p.primary = "set.0"
		if err := log(); !errcode.Is(err, errcode.NotWritablePrimary) {
			t.Errorf("a call by an old hint: %v", err)
		}
		if err := log(); err != nil {
			t.Errorf("the call after that: %v", err)
		}
		p.primary = ""
		_ = log()
		if err := log(); !errcode.Is(err, errcode.NotWritablePrimary) {
			t.Errorf("a call without a primary: %v", err)
		}
	})
	if want := 4; len(p.asked) != want {
		t.Errorf("the command was sent to %v, want %d calls", p.asked, want)
	}
}

func TestAnyMemberAnswersWhenOneIsCutOff(t *testing.T) {
	p := &pair{primary: "set.1"}
	p.run(t, func(task env.Task, set *rpc.Set) {
		p.world.Partition("caller", "set.0", false)
		began := task.Node().Mono()
		for range 2 {
			_, err := rpc.CallAny[command.HelloReply](task, set, &command.Hello{}, 10*time.Second)
			if err != nil {
				t.Errorf("a call of any member: %v", err)
			}
		}
		if took := task.Node().Mono().Sub(began); took > time.Second {
			t.Errorf("two calls took %v", took)
		}
	})
}
