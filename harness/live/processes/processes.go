// Package processes is a cluster of the store as processes of this machine, made to be attacked:
// what one node sends to another goes through a link of its own, which can be cut, and each process
// is a child of this one.
//
// Promise: everything listens on loopback; every process has ended when Close returns, and ends by
// itself when this one is killed. The folder keeps what `shardproof cluster node` needs, and the
// logs.
//
// Refusal: nothing is restarted but by a repair or Settle: a process that ends by itself is
// reported.
package processes

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/live/proxy"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/process"
)

// Options make a cluster.
type Options struct {
	// Program is the shardproof that the processes run.
	Program string
	// Folder is empty or does not exist.
	Folder   string
	Topology process.Topology
	// Settings differ from the defaults of live clusters.
	Settings map[string]string
	Log      *slog.Logger
}

// Cluster is a running one.
type Cluster struct {
	o     Options
	key   string // the file of the secret
	order []string
	nodes map[string]*node
	// links are by the node that connects and the one that is connected to; clients are those of
	// routers.
	links   map[[2]string]*proxy.Link
	clients map[string]*proxy.Link

	mu    sync.Mutex
	ended []attack.Ended
	// disturbed are the links that faults have changed, and by how many.
	disturbed map[*proxy.Link][]proxy.State
}

var _ live.Servers = (*Cluster)(nil)

// Start starts every process and waits until the cluster can serve.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	ids, err := o.Topology.Nodes()
	if err != nil {
		return nil, err
	}
	if o.Folder, err = filepath.Abs(o.Folder); err != nil {
		return nil, err
	}
	c := &Cluster{o: o, key: filepath.Join(o.Folder, "key"), nodes: make(map[string]*node),
		links: make(map[[2]string]*proxy.Link), clients: make(map[string]*proxy.Link),
		disturbed: make(map[*proxy.Link][]proxy.State)}
	if err := c.prepare(ids); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for _, id := range c.order {
		if err := c.nodes[id].start(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := c.Settle(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the cluster does not start: %w", err), c.Close())
	}
	return c, nil
}

// prepare makes the folder, the secret, the addresses and the links.
func (c *Cluster) prepare(ids []env.NodeID) error {
	secret := make([]byte, 48)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	if err := os.MkdirAll(c.o.Folder, 0o700); err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(secret) + "\n"
	if err := os.WriteFile(c.key, []byte(text), 0o600); err != nil {
		return err
	}
	ports, err := freePorts(3 * len(ids))
	if err != nil {
		return err
	}
	for i, id := range ids {
		n := &node{c: c, id: string(id), folder: filepath.Join(c.o.Folder, string(id)),
			address: ports[3*i], admin: ports[3*i+1]}
		if n.router() {
			n.clients = ports[3*i+2]
		}
		c.order = append(c.order, n.id)
		c.nodes[n.id] = n
	}
	return c.connect()
}

// connect makes the links.
func (c *Cluster) connect() (err error) {
	for _, from := range c.order {
		for _, to := range c.order {
			if from == to {
				continue
			}
			link := [2]string{from, to}
			if c.links[link], err = proxy.Listen(c.nodes[to].address); err != nil {
				return err
			}
		}
		if n := c.nodes[from]; n.router() {
			if c.clients[from], err = proxy.Listen(n.clients); err != nil {
				return err
			}
		}
	}
	return nil
}

// freePorts finds addresses of loopback that nobody listens on. They lie below those that systems
// give to connections: a process that is down for a while finds its own free again.
func freePorts(count int) (all []string, err error) {
	const lowest, highest = 10_000, 30_000
	for port := lowest + mathrand.IntN(highest-lowest); len(all) < count; port++ {
		if port >= 1<<15 {
			return nil, errors.New("no free ports from 10000 to 32767 are left")
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// URI is how clients reach the routers.
func (c *Cluster) URI() string {
	var hosts []string
	for _, id := range c.order {
		if link := c.clients[id]; link != nil {
			hosts = append(hosts, link.Address())
		}
	}
	return "mongodb://" + strings.Join(hosts, ",") + "/"
}

// Close ends all processes and links.
func (c *Cluster) Close() error {
	var ended sync.WaitGroup
	for _, n := range c.nodes {
		ended.Go(n.kill)
	}
	ended.Wait()
	var errs []error
	for _, all := range []map[string]*proxy.Link{c.clients} {
		for _, l := range all {
			errs = append(errs, closed(l))
		}
	}
	for _, l := range c.links {
		errs = append(errs, closed(l))
	}
	return errors.Join(errs...)
}

func closed(l *proxy.Link) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// Ended implements live.Servers.
func (c *Cluster) Ended() []attack.Ended {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ended)
}

func (c *Cluster) hasEnded(id, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, attack.Ended{Node: id, Why: why})
	c.o.Log.Warn("a process has ended by itself", "node", id, "why", why)
}

// Settle implements live.Servers.
func (c *Cluster) Settle(ctx context.Context) error {
	for _, id := range c.order {
		if n := c.nodes[id]; !n.running() {
			if err := n.start(); err != nil {
				return err
			}
		}
	}
	for {
		missing := c.missing(ctx)
		if missing == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New(missing)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// missing says what keeps the cluster from being whole; empty when nothing does.
func (c *Cluster) missing(ctx context.Context) string {
	led := make(map[string]bool)
	var silent, sets []string
	for _, id := range c.order {
		s, err := c.nodes[id].status(ctx)
		if err != nil || s.Role == "recovering" {
			silent = append(silent, id)
			continue
		}
		led[s.Set] = led[s.Set] || s.Role == "primary"
	}
	for _, id := range c.order {
		if set := c.nodes[id].set(); set != "router" && !led[set] && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	var parts []string
	if len(sets) > 0 {
		parts = append(parts, "no primary of "+strings.Join(sets, ", "))
	}
	if len(silent) > 0 {
		parts = append(parts, "no answer of "+strings.Join(silent, ", "))
	}
	return strings.Join(parts, "; ")
}

// Resolve implements live.Servers.
func (c *Cluster) Resolve(ctx context.Context, role string) (string, error) {
	set, member, _ := strings.Cut(role, ".")
	if c.nodes[role] != nil {
		return role, nil
	}
	if member != "primary" {
		return "", fmt.Errorf("there is no server %q; there are %v", role, c.order)
	}
	var any string
	for _, id := range c.order {
		n := c.nodes[id]
		if n.set() != set {
			continue
		}
		any = id
		if s, err := n.status(ctx); err == nil && s.Role == "primary" {
			return id, nil
		}
	}
	if any == "" {
		return "", fmt.Errorf("there is no replica set %q", set)
	}
	return any, nil // nobody leads: one is as good as another
}
