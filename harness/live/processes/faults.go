package processes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/live/proxy"
)

// repair undoes a fault.
type repair = func(context.Context) error

// Faults implements live.Servers: all kinds.
func (c *Cluster) Faults() []string { return attack.KindNames() }

// Inject implements live.Servers.
func (c *Cluster) Inject(ctx context.Context, f *live.Fault) (repair, error) {
	n := c.nodes[f.Node]
	do, known := injections[f.Kind.Name]
	if !known {
		return nil, fmt.Errorf("processes cannot be attacked by %s", f.Kind.Name)
	}
	return do(ctx, c, n, f)
}

var injections = map[string]func(context.Context, *Cluster, *node, *live.Fault) (repair, error){
	"kill": func(_ context.Context, _ *Cluster, n *node, _ *live.Fault) (repair, error) {
		return restart(n), n.end(syscall.SIGKILL)
	},
	"terminate": func(_ context.Context, _ *Cluster, n *node, _ *live.Fault) (repair, error) {
		return restart(n), n.end(syscall.SIGTERM)
	},
	"kill-all": func(_ context.Context, c *Cluster, _ *node, _ *live.Fault) (repair, error) {
		return c.killAll(), nil
	},
	"stop": func(_ context.Context, _ *Cluster, n *node, _ *live.Fault) (repair, error) {
		if err := n.signal(syscall.SIGSTOP, false); err != nil {
			return nil, err
		}
		return func(context.Context) error { return down(n.signal(syscall.SIGCONT, false)) }, nil
	},
	"take-over":   takeOver,
	"partition":   partition,
	"cut-link":    disturbLink,
	"slow-link":   disturbLink,
	"cut-clients": cutClients,
	"failpoint":   failpoint,
	"full-disk":   fullDisk,
	"clock":       clock,
}

// restart starts the process of a node again.
func restart(n *node) repair { return func(context.Context) error { return n.start() } }

// down takes it as repaired that a process does not run.
func down(err error) error {
	if errors.Is(err, errDown) {
		return nil
	}
	return err
}

func (c *Cluster) killAll() repair {
	var ended sync.WaitGroup
	for _, n := range c.nodes {
		ended.Go(n.kill)
	}
	ended.Wait()
	return func(context.Context) error {
		var errs []error
		for _, id := range c.order {
			errs = append(errs, c.nodes[id].start())
		}
		return errors.Join(errs...)
	}
}

// takeOver has the first member campaign that does not lead.
func takeOver(ctx context.Context, c *Cluster, _ *node, f *live.Fault) (repair, error) {
	for _, id := range c.order {
		n := c.nodes[id]
		if n.set() != f.Node {
			continue
		}
		if s, err := n.status(ctx); err == nil && s.Role == "secondary" {
			_, err := n.ask(ctx, http.MethodPost, "/takeover", "")
			return nil, err
		}
	}
	return nil, fmt.Errorf("no member of %s could take over", f.Node)
}

// disturb changes links until the repair; of several changes to one the newest counts.
func (c *Cluster) disturb(links []*proxy.Link, s proxy.State) repair {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range links {
		c.disturbed[l] = append(c.disturbed[l], s)
		l.Set(s)
	}
	return func(context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, l := range links {
			all := c.disturbed[l]
			if i := slices.Index(all, s); i >= 0 {
				all = slices.Delete(all, i, i+1)
			}
			c.disturbed[l] = all
			next := proxy.State{}
			if len(all) > 0 {
				next = all[len(all)-1]
			}
			l.Set(next)
		}
		return nil
	}
}

// stateOf is what a fault that is about links does to them.
func stateOf(f *live.Fault) proxy.State {
	if f.Kind.Name == "slow-link" {
		late := proxy.Way{Delay: f.Kind.Duration(&f.Fault, "delay")}
		return proxy.State{Forth: late, Back: late}
	}
	if f.Kind.Text(&f.Fault, "how") == "hold" {
		return proxy.State{Forth: proxy.Way{Hold: true}, Back: proxy.Way{Hold: true}}
	}
	return proxy.State{Cut: true}
}

func disturbLink(_ context.Context, c *Cluster, _ *node, f *live.Fault) (repair, error) {
	return c.disturb([]*proxy.Link{c.links[[2]string{f.Node, f.Other}]}, stateOf(f)), nil
}

// partition disturbs all links of a node: those that it has opened carry what it asks, and those
// that others have opened what they ask.
func partition(_ context.Context, c *Cluster, n *node, f *live.Fault) (repair, error) {
	var links []*proxy.Link
	way := f.Kind.Text(&f.Fault, "way")
	for _, id := range c.order {
		if id == n.id {
			continue
		}
		if way != "in" {
			links = append(links, c.links[[2]string{n.id, id}])
		}
		if way != "out" {
			links = append(links, c.links[[2]string{id, n.id}])
		}
	}
	return c.disturb(links, stateOf(f)), nil
}

func cutClients(_ context.Context, c *Cluster, n *node, _ *live.Fault) (repair, error) {
	link := c.clients[n.id]
	if link == nil {
		return nil, fmt.Errorf("%s has no clients: it is no router", n.id)
	}
	return c.disturb([]*proxy.Link{link}, proxy.State{Cut: true}), nil
}

// failpoint switches one on. It may be one that ends the process.
func failpoint(ctx context.Context, _ *Cluster, n *node, f *live.Fault) (repair, error) {
	path := "/failpoints/" + f.Kind.Text(&f.Fault, "site")
	n.excuse(+1)
	_, err := n.ask(ctx, http.MethodPut, path, f.Kind.Text(&f.Fault, "terms"))
	if err != nil {
		n.excuse(-1)
		return nil, err
	}
	return func(ctx context.Context) error {
		_, err := n.ask(ctx, http.MethodDelete, path, "")
		n.excuse(-1)
		if !n.running() {
			return n.start()
		}
		if _, asked := errors.AsType[*refusedError](err); asked {
			return nil // the process is another one since, and has no failpoint on
		}
		return err
	}, nil
}

// fullDisk lets no file of the process grow. What it has stored is below the limit, and what it
// appends is above.
func fullDisk(_ context.Context, _ *Cluster, n *node, _ *live.Fault) (repair, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.child == nil {
		return nil, errDown
	}
	n.fated = true
	if err := limitFiles(n.child.Process.Pid, 1); err != nil {
		return nil, err
	}
	return func(context.Context) error {
		n.kill() // one that had nothing to store in all that time
		return n.start()
	}, nil
}

func clock(_ context.Context, _ *Cluster, n *node, f *live.Fault) (repair, error) {
	again := func(offset string) error {
		n.kill()
		n.mu.Lock()
		n.offset = offset
		n.mu.Unlock()
		time.Sleep(50 * time.Millisecond)
		return n.start()
	}
	err := again(f.Kind.Text(&f.Fault, "offset"))
	return func(context.Context) error { return again("") }, err
}
