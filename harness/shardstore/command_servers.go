package shardstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/harness/shardstore/mistakes"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// The commands that servers, shards and routers are given.
var (
	_ = obeys(commandkind.SetParameter, toServers(
		func(c *scenario.Command) env.Message {
			return &command.SetParameter{Name: c.Name, Value: c.Value}
		},
		func(c *scenario.Command) error {
			var any settings.Settings
			return any.Set(c.Name, c.Value)
		}))
	_ = obeys(commandkind.SplitChunk, toRouter(func(c *scenario.Command) env.Message {
		return &command.SplitChunk{NS: c.Name, At: bound(c.Min)}
	}))
	_ = obeys(commandkind.MergeChunks, toRouter(func(c *scenario.Command) env.Message {
		return &command.MergeChunks{NS: c.Name, Min: bound(c.Min), Max: bound(c.Max)}
	}))
	_ = obeys(commandkind.CleanupOrphaned, toShards(
		func(o operatorConnection, t env.Task, shard *rpc.Set, c *scenario.Command) {
			_ = o.cleanUp(t, shard, c.Name, o.settings.MoveWait)
		}))
	_ = obeys(commandkind.JoinMigrations, toShards(
		func(o operatorConnection, t env.Task, shard *rpc.Set, c *scenario.Command) {
			_, _ = rpc.CallPrimary[command.Done](t, shard, &command.JoinMigrations{NS: c.Name},
				o.settings.MoveWait)
		}))
)

// cleanUp has a shard delete its orphans of a namespace. In 4.2 one command deletes one range and
// says where to go on, and each is waited for at most that long.
func (o operatorConnection) cleanUp(
	t env.Task, set *rpc.Set, ns string, wait time.Duration,
) error {
	answered := o.oracle.CleansUp(set.Name(), ns)
	for from := key.Min; ; {
		done, err := rpc.CallPrimary[command.CleanedUp](t, set,
			&command.CleanupOrphaned{NS: ns, From: from}, wait)
		if err != nil || done.StoppedAt == "" || done.StoppedAt == key.Max {
			answered(err == nil)
			return err
		}
		from = done.StoppedAt
	}
}

var _ = obeys(commandkind.Mistake, adminCommand{
	check: func(c *scenario.Command) error {
		if _, known := mistakes.Named(c.Value); known {
			return nil
		}
		if near := suggest.Nearest(c.Value, mistakes.Names()); len(near) > 0 {
			return fmt.Errorf("there is no mistake %q; did you mean %s?", c.Value,
				strings.Join(near, " or "))
		}
		return fmt.Errorf("there is no mistake %q, only %s", c.Value,
			strings.Join(mistakes.Names(), ", "))
	},
	orders: func(o operatorConnection, c *scenario.Command, _ int) []func(env.Task) {
		return []func(env.Task){func(t env.Task) { o.mistake(t, c) }}
	},
})

// mistake asks for what cannot be granted, and has the answer judged if it is granted.
func (o operatorConnection) mistake(t env.Task, c *scenario.Command) {
	m, _ := mistakes.Named(c.Value)
	req := m.Request(mistakes.Place{
		NS: c.Name, Key: o.keys[c.Name], Lo: bound(1), Hi: bound(3),
		Shard: o.Topology().ShardNames()[0],
	})
	r := oracle.Refusal{Request: nameOf(req), NS: c.Name, Since: int64(o.world.Now())}
	answered := o.oracle.Asked() // for nothing, but a router may read tables for it
	var err error
	if r.Node = configsvr.Name; m.Routed {
		r.Node = string(o.Topology().RouterNodes()[0])
		_, err = rpc.Call[command.Done](t, o.ep, env.NodeID(r.Node), req, o.settings.MoveWait)
	} else {
		err = o.askConfig(t, req)
	}
	answered(err == nil)
	if err == nil && !m.Lasting {
		o.oracle.Granted(r, grounds.Always(m.Why))
	}
}

func (o operatorConnection) askConfig(t env.Task, req env.Message) (err error) {
	config, wait := o.sets[configsvr.Name], o.settings.MoveWait
	switch req.(type) {
	case *command.RemoveShard:
		_, err = rpc.CallPrimary[command.RemoveShardReply](t, config, req, wait)
	case *command.CreateDatabase:
		_, err = rpc.CallPrimary[command.DatabaseReply](t, config, req, wait)
	default:
		_, err = rpc.CallPrimary[command.Done](t, config, req, wait)
	}
	return err
}

// HandOver asks a member to step down from its own machine, as an operator with a shell would.
func (c *cluster) HandOver(id env.NodeID) {
	m, node := c.Member(id), c.world.Node(id)
	if m == nil || node == nil || !m.Leading() {
		return
	}
	over := c.oracle.HandsOver(string(id))
	ended := c.timed.HandsOver(string(id), m.Name(), c.world.Now())
	node.Spawn(nil, "operator steps down", func(t env.Task) {
		// A stepdown that finds no successor is refused, which is an answer.
		err := m.StepDown(t)
		ended(!errcode.Is(err, errcode.ExceededTimeLimit), c.world.Now())
		over()
	})
}

// TakeOver has a member campaign.
func (c *cluster) TakeOver(id env.NodeID) {
	if m, node := c.Member(id), c.world.Node(id); m != nil && node != nil {
		node.Spawn(nil, "operator has it lead", func(env.Task) { m.TakeOver() })
	}
}
