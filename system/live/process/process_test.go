package process_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/ledger"
	"github.com/shardproof/shardproof/system/live/process"
)

// load is for how long the cluster of TestLoad is under load.
var load = flag.Duration("load", 2*time.Second, "how long the load of TestLoad lasts")

var small = process.Topology{Shards: 2, Members: 3, ConfigMembers: 3, Routers: 2, Protocol: "8.0"}

// cluster is a whole cluster in this process: each node has a loop, a folder and ports of its own.
type cluster struct {
	t       *testing.T
	configs map[env.NodeID]*process.Config
	mu      sync.Mutex
	stops   map[env.NodeID]context.CancelCauseFunc
	ended   map[env.NodeID]chan error
}

func newCluster(t *testing.T, top process.Topology) *cluster {
	t.Helper()
	all, err := top.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("secret", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, configs: map[env.NodeID]*process.Config{},
		stops: map[env.NodeID]context.CancelCauseFunc{}, ended: map[env.NodeID]chan error{}}
	nodes := map[env.NodeID]string{}
	for _, id := range all {
		nodes[id] = freeAddress(t)
		c.configs[id] = &process.Config{Cluster: t.Name(), Node: id,
			Folder: filepath.Join(dir, string(id)), Nodes: nodes, Admin: freeAddress(t),
			KeyFile: key, Topology: top, Settings: map[string]string{
				"electionTimeoutMillis": "500ms", "heartbeatIntervalMillis": "50ms",
			}}
	}
	t.Cleanup(c.stopAll)
	for _, id := range all {
		c.start(id)
	}
	return c
}

// Ports of servers are below those that a system gives to outgoing connections, one of which could
// take the port before its server listens.
const firstPort, serverPorts = 20000, 12000

var portsTaken atomic.Int64

// freeAddress begins to look elsewhere in each process, as tests of several packages run together.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range serverPorts {
		n := firstPort + (37*int64(os.Getpid())+portsTaken.Add(1))%serverPorts
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", n)); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatalf("none of the ports from %d on is free", firstPort)
	return ""
}

func (c *cluster) start(id env.NodeID) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	c.stops[id], c.ended[id] = cancel, ended
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	go func() { ended <- process.Run(ctx, c.configs[id], process.Options{Log: log}) }()
}

func (c *cluster) stop(id env.NodeID, why error) {
	c.t.Helper()
	c.stops[id](why)
	if err := <-c.ended[id]; err != nil {
		c.t.Errorf("%s ended with %v", id, err)
	}
	delete(c.stops, id)
}

func (c *cluster) stopAll() {
	for _, stop := range c.stops {
		stop(process.ErrAtOnce)
	}
	for id := range c.stops {
		c.stop(id, process.ErrAtOnce)
	}
}

// dial is a client of the cluster.
func (c *cluster) dial(i int) *ledger.Client {
	c.t.Helper()
	n, view, err := process.Dial(c.configs["router.0"], env.NodeID(fmt.Sprintf("client.%d", i)),
		filepath.Join(c.t.TempDir(), "client"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(n.Stop)
	return &ledger.Client{Node: n, View: view}
}

func (c *cluster) get(id env.NodeID, path string) string {
	answer, err := http.Get("http://" + c.configs[id].Admin + path)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return fmt.Sprint(string(text), errors.Join(err))
}

// primary waits for a primary of a replica set.
func (c *cluster) primary(set string) env.NodeID {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		for id, cfg := range c.configs {
			if cfg.Set() == set && c.stops[id] != nil &&
				strings.Contains(c.get(id, "/status"), `"role":"primary"`) {
				return id
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.t.Fatalf("replica set %s has no primary", set)
	return ""
}

func newLedger(t *testing.T, own *ledger.Client) *ledger.Ledger {
	t.Helper()
	l := &ledger.Ledger{NS: "test.ledger", Shards: []string{"shard-a", "shard-b"}, Keys: 200}
	if err := l.Create(context.Background(), own); err != nil {
		t.Fatal(err)
	}
	return l
}

func sound(t *testing.T, l *ledger.Ledger, own *ledger.Client) {
	t.Helper()
	wrong, err := l.Check(context.Background(), own)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%v; %v", wrong, err)
	}
}

// TestLoad: a whole cluster takes writes of several clients while ranges move and nodes come and
// go, and nothing that was acknowledged is lost.
func TestLoad(t *testing.T) {
	c := newCluster(t, small)
	own := c.dial(9)
	l := newLedger(t, own)
	ctx, cancel := context.WithTimeout(context.Background(), *load)
	defer cancel()
	var clients sync.WaitGroup
	for i := range 4 {
		own := c.dial(i)
		clients.Go(func() {
			if err := l.Write(ctx, own, int64(i), 4, command.Majority); err != nil {
				t.Error(err)
			}
		})
	}
	mover := c.dial(8)
	clients.Go(func() { _ = l.Move(ctx, mover, 50*time.Millisecond) })
	for turn := 0; ctx.Err() == nil; turn++ {
		id := c.primary([]string{"shard-a", "config", "shard-b"}[turn%3])
		c.stop(id, []error{nil, process.ErrAtOnce}[turn%2])
		c.start(id)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	clients.Wait()
	sound(t, l, own)
	r := l.Report()
	t.Logf("%d writes, %d of unknown outcome, p50 %v, p99 %v", r.Done, r.Unknown, r.P50, r.P99)
	if r.Done == 0 {
		t.Error("no write was acknowledged")
	}
}

// TestRestart: a cluster whose processes have all ended has everything when they start again.
func TestRestart(t *testing.T) {
	c := newCluster(t, small)
	own := c.dial(0)
	l := newLedger(t, own)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := l.Write(ctx, own, 0, 1, command.Majority); err != nil {
		t.Fatal(err)
	}
	c.stopAll()
	for id := range c.configs {
		c.start(id)
	}
	sound(t, l, own)
}

// TestAdmin: status, metrics and failpoints of running nodes.
func TestAdmin(t *testing.T) {
	c := newCluster(t, process.Topology{Shards: 1, Members: 1, ConfigMembers: 1, Routers: 1})
	id := c.primary("shard-a")
	for _, want := range []string{`shardproof_elections_total{set="shard-a"} 1`,
		`shardproof_primary{set="shard-a"} 1`, `shardproof_orphan_documents{set="shard-a"} 0`,
		"shardproof_critical_section_seconds_count 0",
		`shardproof_replication_lag_entries{set="shard-a"} 0`} {
		if got := c.get(id, "/metrics"); !strings.Contains(got, want+"\n") {
			t.Errorf("the metrics have no %q: %s", want, got)
		}
	}
	if got := c.get(c.primary("config"), "/status"); !strings.Contains(got, `"name":"shard-a"`) {
		t.Errorf("the status of the config server has no shard: %s", got)
	}
	if got := c.get(id, "/failpoints/no.such"); !strings.Contains(got, "there is no failpoint") {
		t.Errorf("an unknown failpoint: %s", got)
	}
}

// TestConfig: what is wrong with a configuration is said.
func TestConfig(t *testing.T) {
	sound := process.Config{Cluster: "c", Node: "shard-a.0", Folder: "f", Topology: small,
		Nodes: map[env.NodeID]string{}}
	all, err := small.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range all {
		sound.Nodes[id] = "127.0.0.1:1"
	}
	if err := sound.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *process.Config){
		`"cluster" is empty`: func(c *process.Config) { c.Cluster = "" },
		`"folder" is empty`:  func(c *process.Config) { c.Folder = "" },
		`"node" is "x"`:      func(c *process.Config) { c.Node = "x" },
		`is not a router`:    func(c *process.Config) { c.Clients = "127.0.0.1:2" },
		`no address for`:     func(c *process.Config) { c.Nodes = nil },
		`is not possible`:    func(c *process.Config) { c.Topology.Shards = 0 },
		`no protocol "9"`:    func(c *process.Config) { c.Topology.Protocol = "9" },
		`no setting "pace"`: func(c *process.Config) {
			c.Settings = map[string]string{"pace": "1"}
		},
	} {
		wrong := sound
		change(&wrong)
		if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, not %v", want, err)
		}
	}
}
