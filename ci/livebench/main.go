// Command livebench measures a cluster of real processes: operations a second and how long they
// take, for majority writes, writes that only the primary has, and reads, by clients that speak the
// protocol of the nodes.
//
// Refusal: it compares nothing; the machine, and what else runs on it, are the reader's to know.
//
// Promise: operations count only when they were acknowledged, and the cluster ends with the
// command.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/ledger"
	"github.com/shardproof/shardproof/system/live/process"
)

var (
	tool    = flag.String("tool", "bin/shardproof", "the program")
	clients = flag.Int("clients", 8, "clients with one operation at a time each")
	lasts   = flag.Duration("for", 10*time.Second, "how long each kind of operation is measured")
	shards  = flag.Int("shards", 2, "shards")
	members = flag.Int("members", 3, "members of each replica set")
	plain   = flag.Bool("plaintext", false, "no TLS between the nodes")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "livebench:", err)
		os.Exit(1)
	}
}

func run() error {
	folder, err := os.MkdirTemp("", "shardproof-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	defer cluster("stop", folder)
	err = cluster("start", folder, "--port", "0", "--shards", strconv.Itoa(*shards),
		"--members", strconv.Itoa(*members), "--config-members", strconv.Itoa(*members),
		"--balancer=false", "--plaintext="+strconv.FormatBool(*plain))
	if err != nil {
		return err
	}
	all, l, err := prepare(folder)
	if err != nil {
		return err
	}
	fmt.Printf("%d shards of %d members, %d clients, %v each\n",
		*shards, *members, *clients, *lasts)
	fmt.Printf("%-18s %10s %10s %10s %10s %8s\n", "", "ops/s", "p50", "p99", "max", "unknown")
	for _, kind := range kinds {
		measure(kind, all, l)
	}
	return nil
}

func prepare(folder string) ([]*ledger.Client, *ledger.Ledger, error) {
	cfg, err := process.Load(filepath.Join(folder, "nodes", "router.0", "node.json"))
	if err != nil {
		return nil, nil, err
	}
	all := make([]*ledger.Client, *clients)
	for i := range all {
		id := env.NodeID(fmt.Sprintf("client.%d", i))
		n, view, err := process.Dial(cfg, id, filepath.Join(folder, string(id)))
		if err != nil {
			return nil, nil, err
		}
		all[i] = &ledger.Client{Node: n, View: view}
	}
	l := &ledger.Ledger{NS: "test.bench", Keys: 10_000}
	for i := range *shards {
		l.Shards = append(l.Shards, system.ShardName(i))
	}
	return all, l, l.Create(context.Background(), all[0])
}

// kind is a kind of operation.
type kind struct {
	name string
	run  operate
}

var kinds = []kind{
	{"majority write", writes(command.Majority)},
	{"w:1 write", writes(command.WriteConcern{W: 1})},
	{"local read", reads(command.Local)},
	{"linearizable read", reads(command.Linearizable)},
}

// operate is what one client does until the context ends.
type operate func(ctx context.Context, l *ledger.Ledger, c *ledger.Client, i int64) error

func writes(wc command.WriteConcern) operate {
	return func(ctx context.Context, l *ledger.Ledger, c *ledger.Client, i int64) error {
		return l.Write(ctx, c, i, int64(*clients), wc)
	}
}

func reads(rc command.ReadConcern) operate {
	return func(ctx context.Context, l *ledger.Ledger, c *ledger.Client, i int64) error {
		return l.Read(ctx, c, i, int64(*clients), rc)
	}
}

func measure(k kind, all []*ledger.Client, l *ledger.Ledger) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), *lasts)
	defer cancel()
	var running sync.WaitGroup
	for i, c := range all {
		running.Go(func() {
			if err := k.run(ctx, l, c, int64(i)); err != nil {
				fmt.Fprintln(os.Stderr, "livebench:", err)
			}
		})
	}
	running.Wait()
	r := l.Report()
	if r.Unknown > len(all) { // each client's last operation may be cut off
		fmt.Fprintln(os.Stderr, "livebench: of unknown outcome, for example:", r.Err)
	}
	fmt.Printf("%-18s %10.0f %10v %10v %10v %8d\n", k.name,
		float64(r.Done)/time.Since(began).Seconds(), r.P50.Round(10*time.Microsecond),
		r.P99.Round(10*time.Microsecond), r.Max.Round(10*time.Microsecond), r.Unknown)
}

// cluster runs a command of `shardproof cluster`.
func cluster(args ...string) error {
	out, err := exec.Command(*tool, append([]string{"cluster"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster %s: %w: %s", args[0], err, out)
	}
	return nil
}
