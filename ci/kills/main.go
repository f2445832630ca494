// Command kills starts a cluster of real processes, kills processes with SIGKILL at random moments
// while clients write and ranges move, starts them again, and looks for acknowledged majority
// writes that are gone.
//
// Promise: it fails when one is gone, when a node ends by itself, and when the cluster does not
// come back. It prints how long it took to serve again after each kill.
//
// Refusal: the machine stays up, so what was written and not synced survives here; what a power
// failure loses, the simulation tries.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/ledger"
	"github.com/shardproof/shardproof/system/live/process"
)

var (
	kills   = flag.Int("kills", 300, "how many kills")
	seed    = flag.Uint64("seed", 1, "what is killed when; moments depend on the machine, too")
	tool    = flag.String("tool", "bin/shardproof", "the program")
	folder  = flag.String("folder", "", "the cluster's folder; empty: a temporary one")
	writers = flag.Int("writers", 4, "clients that write")
	between = flag.Duration("between", time.Second, "up to how long from a restart to a kill")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kills:", err)
		os.Exit(1)
	}
}

// rig is a cluster under load.
type rig struct {
	folder string
	random *rand.Rand
	nodes  []env.NodeID
	config *process.Config
	ledger *ledger.Ledger
	// probe is a client that finds out when the cluster serves again.
	probe *ledger.Client
}

func run() error {
	r := &rig{folder: *folder, random: rand.New(rand.NewPCG(*seed, 0))}
	if r.folder == "" {
		dir, err := os.MkdirTemp("", "shardproof-kills-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		r.folder = dir
	}
	defer r.tool("stop", r.folder)
	if err := r.begin(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for i := range *writers {
		if err := r.write(ctx, &clients, i); err != nil {
			cancel()
			return err
		}
	}
	mover, err := r.dial("client.mover")
	if err != nil {
		cancel()
		return err
	}
	clients.Go(func() { _ = r.ledger.Move(ctx, mover, 100*time.Millisecond) })
	took, err := r.killAll()
	cancel()
	clients.Wait()
	if err != nil {
		return err
	}
	return r.judge(took)
}

// begin starts the cluster and makes the collection.
func (r *rig) begin() error {
	if err := r.tool("start", r.folder, "--port", "0", "--routers", "2",
		"--set", "electionTimeoutMillis=1s", "--set", "heartbeatIntervalMillis=100ms"); err != nil {
		return err
	}
	var err error
	r.config, err = process.Load(filepath.Join(r.folder, "nodes", "router.0", "node.json"))
	if err != nil {
		return err
	}
	if r.nodes, err = r.config.Topology.Nodes(); err != nil {
		return err
	}
	if r.probe, err = r.dial("client.probe"); err != nil {
		return err
	}
	r.ledger = &ledger.Ledger{NS: "test.ledger", Shards: []string{"shard-a", "shard-b"}, Keys: 400}
	return r.ledger.Create(context.Background(), r.probe)
}

func (r *rig) dial(id env.NodeID) (*ledger.Client, error) {
	n, view, err := process.Dial(r.config, id, filepath.Join(r.folder, "clients", string(id)))
	return &ledger.Client{Node: n, View: view}, err
}

// tool runs a command of `shardproof cluster`.
func (r *rig) tool(args ...string) error {
	out, err := exec.Command(*tool, append([]string{"cluster"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// write starts a writer.
func (r *rig) write(ctx context.Context, clients *sync.WaitGroup, i int) error {
	own, err := r.dial(env.NodeID(fmt.Sprintf("client.%d", i)))
	if err != nil {
		return err
	}
	clients.Go(func() {
		_ = r.ledger.Write(ctx, own, int64(i), int64(*writers), command.Majority)
	})
	return nil
}

// checkEvery is after how many kills all keys are read.
const checkEvery = 25

// killAll kills and restarts, and returns how long each recovery took.
func (r *rig) killAll() (took []time.Duration, err error) {
	for i := 1; i <= *kills; i++ {
		time.Sleep(time.Duration(r.random.Int64N(int64(*between))))
		victims := r.victims()
		began := time.Now()
		if err := r.kill(victims); err != nil {
			return took, err
		}
		if err := r.tool("start", r.folder); err != nil {
			return took, err
		}
		if err := r.served(); err != nil {
			return took, fmt.Errorf("after the kill of %v: %w", victims, err)
		}
		took = append(took, time.Since(began))
		fmt.Printf("kill %d of %v: serves again after %v\n", i, victims,
			took[len(took)-1].Round(time.Millisecond))
		if i%checkEvery == 0 {
			if err := r.check(); err != nil {
				return took, err
			}
		}
	}
	return took, nil
}

// victims are mostly one node, at times a whole replica set or everything.
func (r *rig) victims() []env.NodeID {
	one := r.nodes[r.random.IntN(len(r.nodes))]
	switch r.random.IntN(10) {
	case 0:
		return r.nodes
	case 1:
		set, _, _ := strings.Cut(string(one), ".")
		return slices.DeleteFunc(slices.Clone(r.nodes), func(id env.NodeID) bool {
			return !strings.HasPrefix(string(id), set+".")
		})
	}
	return []env.NodeID{one}
}

// kill kills processes, all of which must be running.
func (r *rig) kill(ids []env.NodeID) error {
	for _, id := range ids {
		text, err := os.ReadFile(filepath.Join(r.folder, "nodes", string(id), process.PidFile))
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return fmt.Errorf("%s has ended by itself (process %d): %w", id, pid, err)
		}
	}
	for _, id := range ids {
		for r.held(id) {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// held reports whether a process has the node's folder.
func (r *rig) held(id env.NodeID) bool {
	return process.Locked(filepath.Join(r.folder, "nodes", string(id)))
}

// mostRecovery is how long the cluster may take to serve again.
const mostRecovery = time.Minute

// served waits until both shards take a majority write.
func (r *rig) served() error {
	ctx, cancel := context.WithTimeout(context.Background(), mostRecovery)
	defer cancel()
	return r.ledger.Touch(ctx, r.probe)
}

func (r *rig) check() error {
	wrong, err := r.ledger.Check(context.Background(), r.probe)
	if len(wrong) > 0 {
		err = errors.Join(err, errors.New("acknowledged writes are gone:\n"+
			strings.Join(wrong, "\n")))
	}
	return err
}

func (r *rig) judge(took []time.Duration) error {
	if err := r.check(); err != nil {
		return err
	}
	did := r.ledger.Report()
	slices.Sort(took)
	n := len(took)
	if n > 0 {
		fmt.Printf("serves again after: p50 %v, p99 %v, at most %v\n",
			took[n/2].Round(time.Millisecond), took[n*99/100].Round(time.Millisecond),
			took[n-1].Round(time.Millisecond))
	}
	fmt.Printf("%d kills, %d writes acknowledged, %d of unknown outcome, none lost\n",
		n, did.Done, did.Unknown)
	return nil
}
