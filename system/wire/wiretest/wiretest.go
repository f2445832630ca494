// Package wiretest serves real clients from a simulated cluster, inside one process: a rig for
// tests of the wire protocol, and for the tests of drivers.
//
// Promise: one goroutine steps the world, whose time follows the machine's; tasks from other
// goroutines run on the router's node, as on a real one.
//
// Refusal: nothing about it is deterministic, since its clients are not.
package wiretest

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/wire"
)

// Cluster is a simulated cluster that real clients talk to.
type Cluster struct {
	world *sim.World
	inner *system.Cluster
	nodes map[env.NodeID]env.Node
	tasks chan func()
	ended chan struct{}
}

// Start starts a cluster and serves its two routers on addresses of the loopback until stop is
// called. URI is what drivers connect to.
func Start(users *wire.Users) (c *Cluster, uri string, stop func() error, err error) {
	if c, err = assemble(); err != nil {
		return nil, "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := []chan error{make(chan error, 1)}
	go func() { ended[0] <- c.pump(ctx) }()
	stop = func() error {
		cancel()
		var all error
		for _, one := range ended {
			all = errors.Join(all, <-one)
		}
		c.world.Close()
		return all
	}
	var hosts []string
	for _, id := range c.inner.Topology().RouterNodes() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", nil, errors.Join(err, stop())
		}
		hosts = append(hosts, l.Addr().String())
		cfg, served := c.serving(id), make(chan error, 1)
		cfg.Users = users
		ended = append(ended, served)
		go func() { served <- wire.Serve(ctx, l, cfg) }()
	}
	return c, "mongodb://" + strings.Join(hosts, ","), stop, nil
}

// Config is for a server of the cluster's first router, besides the one that Start has started.
func (c *Cluster) Config() wire.Config { return c.serving(c.inner.Topology().RouterNodes()[0]) }

func (c *Cluster) serving(id env.NodeID) wire.Config {
	r := runner{c, id}
	return wire.Config{Runner: r, Router: r.router}
}

// runner runs tasks of one router's node.
type runner struct {
	*Cluster
	id env.NodeID
}

func (r runner) router() *router.Router { return r.inner.Router(r.id) }

// assemble makes a world with a cluster and runs it until clients can be served.
func assemble() (*Cluster, error) {
	const patience = env.Time(time.Minute)
	s := settings.Default80()
	s.OrphanCleanupDelay = 0 // a range may come back at once
	c := &Cluster{
		nodes: make(map[env.NodeID]env.Node), tasks: make(chan func()),
		ended: make(chan struct{}),
	}
	c.world = sim.New(sim.Options{Seed: 1, Codec: codec.BSON})
	top := system.Topology{Shards: 2, Members: 3, ConfigMembers: 3, Routers: 2}
	var err error
	if c.inner, err = system.Assemble(listening{c.world, c}, top, &s); err != nil {
		return nil, err
	}
	c.world.Run(c.inner.Ready, patience)
	if err := c.world.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// listening is a world that notes nodes as they boot.
type listening struct {
	*sim.World
	c *Cluster
}

// AddNode adds the node to the world.
func (w listening) AddNode(id env.NodeID, boot env.Boot) {
	w.World.AddNode(id, func(t env.Task) {
		w.c.nodes[id] = t.Node()
		boot(t)
	})
}

// Do has fn look at the cluster, or change it, between two steps of its world.
func (c *Cluster) Do(fn func(*system.Cluster, *sim.World)) {
	done := make(chan struct{})
	select {
	case c.tasks <- func() { fn(c.inner, c.world); close(done) }:
		<-done
	case <-c.ended:
	}
}

// pump steps the world as time passes, until ctx ends.
func (c *Cluster) pump(ctx context.Context) error {
	defer close(c.ended)
	const idle = 200 * time.Microsecond
	began, from := time.Now(), c.world.Now()
	for ctx.Err() == nil {
		c.world.Run(nil, from.Add(time.Since(began)))
		if err := c.world.Err(); err != nil {
			return err
		}
		select {
		case do := <-c.tasks:
			do()
		case <-time.After(idle):
		case <-ctx.Done():
		}
	}
	return nil
}

// errStopped is the end of the world.
var errStopped = errors.New("the cluster was stopped")

// Run has the router's node run fn as a task.
func (c runner) Run(ctx context.Context, name string, fn func(env.Task)) error {
	done := make(chan struct{})
	var task env.Task
	begin := func() {
		c.nodes[c.id].Spawn(nil, name, func(t env.Task) {
			task = t
			defer close(done)
			fn(t)
		})
	}
	if err := c.hand(begin); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-c.ended:
		return errStopped
	case <-ctx.Done():
	}
	interrupt := func() {
		select {
		case <-done:
		default:
			if task != nil {
				task.Interrupt(errcode.New(errcode.Interrupted, "the client is gone"))
			}
		}
	}
	if err := c.hand(interrupt); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-c.ended:
		return errStopped
	}
}

func (c *Cluster) hand(do func()) error {
	select {
	case c.tasks <- do:
		return nil
	case <-c.ended:
		return errStopped
	}
}
