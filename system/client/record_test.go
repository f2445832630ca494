package client_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// TestNoRecordOfTheUnchanged: a document that was found as it is asked for leaves no record, so
// that an attempt that got lost may yet change it; and as part of a batch it is not sent again.
func TestNoRecordOfTheUnchanged(t *testing.T) {
	same := command.Written{N: 1}
	for _, c := range []struct {
		op     any
		answer command.Written
		want   client.Certainty
		again  bool
	}{
		{command.Update{}, same, client.Unknown, false},
		{command.Update{}, command.Written{N: 1, Modified: 1}, client.OK, true},
		{command.Update{Upsert: true}, command.Written{N: 1, Upserted: true}, client.OK, true},
		{command.FindAndModify{}, same, client.Unknown, false},
		{command.FindAndModify{Remove: true}, same, client.OK, true},
		{command.Delete{}, same, client.OK, true},
	} {
		answers := []*command.Written{nil, &c.answer}
		if a, _ := twice(t, answers, c.op, false); a.Certainty != c.want {
			t.Errorf("%+v, lost and then answered with %+v, is %v", c.op, c.answer, a.Certainty)
		}
		answers = []*command.Written{&c.answer, nil, &c.answer, &c.answer}
		if !c.again {
			answers = answers[:3]
		}
		if _, left := twice(t, answers, c.op, true); left > 0 {
			t.Errorf("a batch of %+v, answered with %+v, was not sent again", c.op, c.answer)
		}
	}
}

// twice has a client write once, or twice in a batch, through a router that answers as told, nil
// being a loss. It returns the last answer and how many answers are left.
func twice(
	t *testing.T, answers []*command.Written, op any, batch bool,
) (a client.Answer, left int) {
	w, s := sim.New(sim.Options{Seed: 1}), settings.Default80()
	defer w.Close()
	answer := func() (*command.Written, error) {
		if len(answers) == 0 {
			t.Errorf("%+v was sent once more", op)
			return &command.Written{N: 1, Modified: 1}, nil
		}
		next := answers[0]
		if answers = answers[1:]; next == nil {
			return nil, errcode.New(errcode.NetworkTimeout, "as planned")
		}
		return next, nil
	}
	w.AddNode("router.0", func(t env.Task) {
		ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
		rpc.Handle(ep, func(env.Task, env.NodeID, *command.Update) (*command.Written, error) {
			return answer()
		})
		rpc.Handle(ep, func(env.Task, env.NodeID, *command.Delete) (*command.Written, error) {
			return answer()
		})
		rpc.Handle(ep, func(
			env.Task, env.NodeID, *command.FindAndModify,
		) (*command.Written, error) {
			return answer()
		})
	})
	w.AddNode("client.0", func(task env.Task) {
		c := client.New(rpc.Listen(task.Node(), hlc.New(task.Node())), []env.NodeID{"router.0"}, &s)
		if task.Sleep(10*time.Millisecond) != nil {
			return
		}
		if batch {
			c.Join()
			send(task, c, op)
			c.Join()
		}
		a = send(task, c, op)
	})
	w.Run(nil, env.Time(time.Minute))
	return a, len(answers)
}

func send(task env.Task, c *client.Client, op any) client.Answer {
	switch op := op.(type) {
	case command.Update:
		return c.Update(task, op)
	case command.Delete:
		return c.Delete(task, op)
	case command.FindAndModify:
		return c.FindAndModify(task, op)
	}
	panic("no such write")
}
