package kvtarget

import (
	"time"

	"github.com/shardproof/shardproof/harness/example/kvstore"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// client is an application. It knows the table, as far as it has heard.
type client struct {
	world target.World
	table kvstore.Table
}

// NewClient makes the node an application.
func (k *cluster) NewClient(env.Node) target.Client { return &client{world: k.world} }

// How long a client waits for one answer, how soon it tries again, and when it gives up.
const (
	attempt = 150 * time.Millisecond
	backoff = 10 * time.Millisecond
	limit   = 5 * time.Second
)

var dos = map[scenario.OpKind]kvstore.Do{
	scenario.Read: kvstore.Get, scenario.Write: kvstore.Put, scenario.Delete: kvstore.Remove, scenario.CAS: kvstore.Swap,
}

// Do tries until a server has answered. A change of which no answer came may have happened: it is not tried again, and its
// outcome is unknown.
func (c *client) Do(t env.Task, op *scenario.Op, _ func() uint64) (a target.Answer) {
	req := &kvstore.Request{Do: dos[op.Kind], Key: op.Key, Value: op.Value, Expect: op.Expect}
	for end := c.world.Now().Add(limit); c.world.Now() < end; a.Retries++ {
		reply, err := c.try(t, req)
		if err == nil {
			return answer(op, reply, a.Retries)
		}
		a.Outcome, a.Err = histories.Failed, err
		if !refused(err) && op.Kind != scenario.Read {
			a.Outcome = histories.Unknown
			return a
		}
		if t.Sleep(backoff) != nil {
			return a
		}
	}
	return a
}

// try asks the owner, as far as it is known.
func (c *client) try(t env.Task, req *kvstore.Request) (*kvstore.Reply, error) {
	owner := c.table.Owner(req.Key)
	if owner == "" {
		m, err := t.Call(kvstore.Directory, &kvstore.Fetch{}, attempt)
		if err != nil {
			return nil, errcode.New(kvstore.NotOwner, "nobody says who owns %d: %v", req.Key, err)
		}
		c.table = *m.(*kvstore.Table)
		owner = c.table.Owner(req.Key)
	}
	m, err := t.Call(kvstore.ServerOf(owner), req, attempt)
	if err != nil {
		c.table = kvstore.Table{} // whatever was wrong, who owns the key is asked again
		return nil, err
	}
	return m.(*kvstore.Reply), nil
}

// refused reports whether a request was certainly not executed.
func refused(err error) bool {
	return errcode.Is(err, kvstore.NotOwner, kvstore.Stopped)
}

// answer is a reply in the terms of histories.
func answer(op *scenario.Op, r *kvstore.Reply, retries int) target.Answer {
	a := target.Answer{Outcome: histories.OK, Retries: retries}
	a.Result.Applied = r.Applied && op.Kind != scenario.Read
	if a.Result.Applied {
		a.Result.N = 1
	}
	if shows := op.Kind != scenario.CAS || r.Applied && op.Expect != ""; shows && r.Found {
		a.Result.Found, a.Result.Value = true, r.Value
		if op.Kind == scenario.Read {
			a.Result.N = 1
		}
	}
	return a
}
