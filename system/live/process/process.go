// Package process runs one node of a cluster as a process of the operating system: a member of the
// config server or of a shard, or a router. The node's code is that of package system; here it gets
// a configuration, a folder, addresses, metrics, a log, and an end.
//
// Promise: a process that is told to stop hands over what it leads, and ends; one that is killed at
// any moment loses nothing that was acknowledged by a majority, and starts again on its folder.
// What can switch failpoints or look inside is on loopback only.
//
// Refusal: no process watches another one; who starts them again is not known here.
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live"
	"github.com/shardproof/shardproof/system/live/disk"
	"github.com/shardproof/shardproof/system/live/eventlog"
)

// The parts of a node's folder: what it stores, its event log, and the number of its process, which
// counts while the lock is held.
const (
	DataFolder   = "data"
	EventsFolder = "events"
	PidFile      = "pid"
)

// Locked reports whether a process has the folder of a node. That is what says that it runs: a
// process of the number in PidFile may be another program by now.
func Locked(folder string) bool { return disk.Locked(filepath.Join(folder, DataFolder)) }

// ErrAtOnce as the cause of the end of a context has the process end without handing over.
var ErrAtOnce = errors.New("stop at once")

// Options are what a program adds to a configuration.
type Options struct {
	// Log is for people. Nil: nothing is logged.
	Log *slog.Logger
	// ServeClients serves the clients of a router until ctx ends, and returns soon after. Nil: a
	// router opens no port for clients.
	ServeClients func(ctx context.Context, c Clients) error
}

// Clients is what those who serve the clients of a router get.
type Clients struct {
	// Listener is the router's client port.
	Listener net.Listener
	// Node runs tasks on the router.
	Node *live.Node
	// Cluster is the router's own view: Cluster.Router(Node.ID()), to be asked for inside a task,
	// is the router, nil until it has booted.
	Cluster *system.Cluster
	Config  *Config
	Log     *slog.Logger
}

// process is a running one.
type process struct {
	cfg     *Config
	opts    Options
	log     *slog.Logger
	cluster *system.Cluster
	node    *live.Node
	events  *eventlog.Log
	metrics *metricSet
	began   time.Time
}

// Run runs the node until ctx ends, then stops it and returns nil: it hands over what it leads
// first, unless the cause is ErrAtOnce. Any other end is an
// error: what was wrong at the start, or *live.Broken.
func Run(ctx context.Context, cfg *Config, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	p := &process{cfg: cfg, opts: opts, began: time.Now(),
		log: opts.Log.With("node", string(cfg.Node), "cluster", cfg.Cluster)}
	boot, err := p.assemble()
	if err != nil {
		return err
	}
	p.metrics = newMetrics(cfg.Set())
	if err := p.start(boot); err != nil {
		return err
	}
	defer p.events.Close()
	defer p.node.Stop()
	stop, err := p.serve(ctx)
	if err != nil {
		return err
	}
	select {
	case <-p.node.Done():
		stop()
		return p.node.Err()
	case <-ctx.Done():
	}
	p.log.Info("told to stop")
	stop()
	if !errors.Is(context.Cause(ctx), ErrAtOnce) {
		p.handOver()
	}
	return nil
}

// only is a world of one node: what the cluster has other processes do is left to them.
type only struct {
	id   env.NodeID
	boot env.Boot
	node env.Node
}

// AddNode implements system.World.
func (w *only) AddNode(id env.NodeID, boot env.Boot) {
	if id == w.id {
		w.boot = func(t env.Task) {
			w.node = t.Node()
			boot(t)
		}
	}
}

// Node implements system.World: of other processes nothing is known.
func (w *only) Node(id env.NodeID) env.Node {
	if id == w.id {
		return w.node
	}
	return nil
}

// assemble finds how the cluster boots this node.
func (p *process) assemble() (env.Boot, error) {
	top, err := p.cfg.Topology.System()
	if err != nil {
		return nil, err
	}
	s, err := p.cfg.settings(top)
	if err != nil {
		return nil, err
	}
	w := &only{id: p.cfg.Node}
	if p.cluster, err = system.Assemble(w, top, s); err != nil {
		return nil, err
	}
	p.cluster.Open()
	return w.boot, nil
}

// start starts the node.
func (p *process) start(boot env.Boot) error {
	key, err := p.cfg.Key()
	if err != nil {
		return err
	}
	ahead, err := p.cfg.clockOffset()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.cfg.Nodes[p.cfg.Node])
	if err != nil {
		return fmt.Errorf("%s cannot listen for other nodes: %w", p.cfg.Node, err)
	}
	data, pid := filepath.Join(p.cfg.Folder, DataFolder), filepath.Join(p.cfg.Folder, PidFile)
	if !disk.Locked(data) { // else the number is that of the process that has the folder
		_ = os.Remove(pid)
	}
	p.events, err = eventlog.Open(filepath.Join(p.cfg.Folder, EventsFolder), eventlog.Limits{},
		p.log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	p.node, err = live.Start(live.Options{
		ID: p.cfg.Node, Boot: boot, Codec: codec.BSON, Folder: data, Cluster: p.cfg.Cluster,
		Peers: p.cfg.Nodes, Listener: listener, Key: key, Classify: classify, Observe: p.observe,
		ClockOffset: ahead, Log: p.log,
	})
	if err != nil {
		p.events.Close()
		return errors.Join(err, listener.Close())
	}
	return os.WriteFile(pid, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600)
}

// observe sees every event, on the node's loop.
func (p *process) observe(incarnation int, e *trace.Event) {
	p.events.Add(incarnation, e)
	p.metrics.observe(e)
	if text := worthLogging[e.Kind]; text != "" {
		p.log.LogAttrs(context.Background(), slog.LevelInfo, text, attributes(e)...)
	}
}

// attributes are what an event has of the things that people look for.
func attributes(e *trace.Event) (all []slog.Attr) {
	for _, a := range []slog.Attr{
		slog.String("set", e.Shard), slog.String("peer", e.Peer), slog.String("ns", e.NS),
		slog.String("migration", e.Migration()), slog.String("state", e.State()),
	} {
		if a.Value.String() != "" {
			all = append(all, a)
		}
	}
	if e.Term > 0 {
		all = append(all, slog.Uint64("term", e.Term))
	}
	return all
}

// worthLogging are the events that people who run a cluster want to read.
var worthLogging = map[trace.Kind]string{
	trace.Elected:           "elected",
	trace.Writable:          "accepts writes",
	trace.SteppedDown:       "stepped down",
	trace.ProcessAborted:    "the process aborts",
	trace.DonorAdvanced:     "donor",
	trace.RecipientAdvanced: "recipient",
	trace.DecisionMade:      "migration decided",
	trace.MigrationEnded:    "migration ended",
}

// serve opens the other ports. What it returns closes them.
func (p *process) serve(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	closeAdmin, err := p.serveAdmin()
	if err != nil {
		cancel()
		return nil, err
	}
	waitClients, err := p.serveClients(ctx)
	if err != nil {
		cancel()
		closeAdmin()
		return nil, err
	}
	return func() {
		cancel()
		waitClients()
		closeAdmin()
	}, nil
}

// serveClients opens a router's port for clients.
func (p *process) serveClients(ctx context.Context) (wait func(), err error) {
	if p.opts.ServeClients == nil || p.cfg.Clients == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", p.cfg.Clients)
	if err != nil {
		return nil, fmt.Errorf("%s cannot listen for clients: %w", p.cfg.Node, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := Clients{Listener: l, Node: p.node, Cluster: p.cluster, Config: p.cfg, Log: p.log}
		if err := p.opts.ServeClients(ctx, c); err != nil && ctx.Err() == nil {
			p.log.Error("clients are not served any more", "why", err)
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	return func() {
		<-done
		stop()
		_ = l.Close()
	}, nil
}

// handOver has a primary step down, so that another one leads before this process ends. It waits no
// longer than a stepdown may take.
func (p *process) handOver() {
	ctx, cancel := context.WithTimeout(context.Background(), mostHandOver)
	defer cancel()
	err := p.node.Run(ctx, "hand over", func(t env.Task) {
		m := p.cluster.Member(p.cfg.Node)
		if m == nil || !m.Leading() {
			return
		}
		if err := m.StepDown(t); err != nil {
			p.log.Warn("stops without a successor", "why", err)
		}
	})
	if err != nil {
		p.log.Warn("stops at once", "why", err)
	}
}

// mostHandOver bounds the time that a process takes to end.
const mostHandOver = 10 * time.Second
