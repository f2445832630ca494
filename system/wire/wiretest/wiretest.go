// Package wiretest serves real clients from a simulated cluster, inside one process: a rig for tests
// of the wire protocol, and for the tests of drivers.
//
// Promise: one goroutine steps the world, whose time follows the machine's; tasks that others hand
// in run on the router's node, as on a real one.
//
// Refusal: nothing about it is deterministic, as its clients are not.
package wiretest

import (
	"context"
	"errors"
	"net"
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
	node  env.Node
	tasks chan func()
	ended chan struct{}
}

// Start starts a cluster and serves its router on an address of the loopback until stop is called.
// URI is what drivers connect to.
func Start(users *wire.Users) (c *Cluster, uri string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	if c, err = assemble(); err != nil {
		return nil, "", nil, errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	pumped, served := make(chan error, 1), make(chan error, 1)
	go func() { pumped <- c.pump(ctx) }()
	go func() {
		served <- wire.Serve(ctx, l, wire.Config{Runner: c, Router: c.router, Users: users})
	}()
	stop = func() error {
		cancel()
		err := errors.Join(<-pumped, <-served)
		c.world.Close()
		return err
	}
	return c, "mongodb://" + l.Addr().String(), stop, nil
}

// assemble makes a world with a cluster and runs it until clients can be served.
func assemble() (*Cluster, error) {
	const patience = env.Time(time.Minute)
	s := settings.Default80()
	c := &Cluster{tasks: make(chan func()), ended: make(chan struct{})}
	c.world = sim.New(sim.Options{Seed: 1, Codec: codec.BSON})
	top := system.Topology{Shards: 2, Members: 3, ConfigMembers: 3, Routers: 1}
	var err error
	if c.inner, err = system.Assemble(listening{c.world, c}, top, &s); err != nil {
		return nil, err
	}
	c.world.Run(func() bool { return c.inner.Ready() && c.node != nil }, patience)
	if err := c.world.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// listening is a world that notes the node of the router as it boots.
type listening struct {
	*sim.World
	c *Cluster
}

// AddNode adds the node to the world.
func (w listening) AddNode(id env.NodeID, boot env.Boot) {
	w.World.AddNode(id, func(t env.Task) {
		if id == routerID {
			w.c.node = t.Node()
		}
		boot(t)
	})
}

const routerID env.NodeID = "router.0"

func (c *Cluster) router() *router.Router { return c.inner.Router(routerID) }

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
func (c *Cluster) Run(ctx context.Context, name string, fn func(env.Task)) error {
	done := make(chan struct{})
	var task env.Task
	begin := func() {
		c.node.Spawn(nil, name, func(t env.Task) {
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
