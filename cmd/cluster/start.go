package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/system/env"
)

// startFlags are those of start; most of them count at the first start only.
type startFlags struct {
	plan    plan
	port    int
	set     []string
	timeout time.Duration
}

// firstOnly are the flags that an existing cluster does not take.
var firstOnly = []string{
	"shards", "members", "config-members", "routers", "protocol", "balancer", "port", "plaintext",
	"listen", "users", "tls-cert", "tls-key",
}

func newStart() *cobra.Command {
	f := &startFlags{}
	c := &cobra.Command{
		Use:   "start FOLDER",
		Short: "start a cluster, or start it again",
		Long: `Starts every process of a cluster that is not running and waits until it can serve.
The first start creates the cluster in a new or empty folder; later ones recover it.`,
		Args: one("the folder of a cluster"),
		RunE: failing(func(c *cobra.Command, args []string) error { return f.run(c, args[0]) }),
	}
	t := &f.plan.Topology
	c.Flags().IntVar(&t.Shards, "shards", 2, "number of shards, from 1 to 26")
	c.Flags().IntVar(&t.Members, "members", 3, "members of each shard")
	c.Flags().IntVar(&t.ConfigMembers, "config-members", 3, "members of the config server")
	c.Flags().IntVar(&t.Routers, "routers", 1, "number of routers")
	c.Flags().StringVar(&t.Protocol, "protocol", "8.0",
		"version of the migration protocol, 8.0 or 4.2")
	c.Flags().BoolVar(&t.Balancer, "balancer", true,
		"whether a new cluster begins with its balancer on")
	c.Flags().IntVar(&f.port, "port", 27017,
		"client port of the first router; ports of nodes begin 100 above it; 0 picks free ports")
	c.Flags().BoolVar(&f.plan.Plaintext, "plaintext", false, "no TLS between nodes")
	a := &f.plan.Access
	c.Flags().StringVar(&a.Listen, "listen", "",
		"IP address on which routers serve clients (default loopback)")
	c.Flags().StringVar(&a.Users, "users", "",
		"file with a line name:password for each user; needed unless --listen is loopback")
	c.Flags().StringVar(&a.Cert, "tls-cert", "", "PEM file with the routers' certificate")
	c.Flags().StringVar(&a.Key, "tls-key", "", "PEM file with the key of that certificate")
	c.Flags().StringArrayVar(&f.set, "set", nil,
		"name=value changes a setting of the nodes that are started; see: shardproof list settings")
	c.Flags().DurationVar(&f.timeout, "timeout", time.Minute,
		"how long to wait until the cluster can serve")
	return c
}

func (f *startFlags) run(c *cobra.Command, folder string) error {
	p, err := f.planned(c, folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), f.timeout)
	defer cancel()
	for _, id := range p.order {
		if _, is := p.running(id); is {
			continue
		}
		if err := p.launch(id); err != nil {
			return fmt.Errorf("%s cannot be started: %w", id, err)
		}
	}
	if err := p.awaitReady(ctx, c.ErrOrStderr()); err != nil {
		return err
	}
	p.describe(c.OutOrStdout())
	return nil
}

// planned is the plan of the folder, made now if there is none.
func (f *startFlags) planned(c *cobra.Command, folder string) (*plan, error) {
	changed := make(map[string]string)
	for _, s := range f.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, &failure{exitUsage, fmt.Errorf("--set takes name=value, not %q", s)}
		}
		changed[name] = value
	}
	p, err := load(folder)
	switch {
	case errors.Is(err, errNoCluster):
		p, f.plan.Settings = &f.plan, changed
		if err := p.Access.absolute(); err != nil {
			return nil, err
		}
		if err := p.check(); err != nil {
			return nil, &failure{exitUsage, err}
		}
		return p, found(folder, p, f.port)
	case err != nil:
		return nil, err
	}
	for _, name := range firstOnly {
		if c.Flags().Changed(name) {
			return nil, &failure{exitUsage, fmt.Errorf("--%s counts at the first start only, and "+
				"folder %s has a cluster; leave it out or use another folder", name, folder)}
		}
	}
	if len(changed) == 0 {
		return p, nil
	}
	if p.Settings == nil {
		p.Settings = map[string]string{}
	}
	for name, value := range changed {
		p.Settings[name] = value
	}
	if err := p.check(); err != nil {
		return nil, &failure{exitUsage, err}
	}
	return p, writeJSON(filepath.Join(p.folder, planFile), p)
}

// check says what is wrong with the topology or a setting, before anything is written.
func (p *plan) check() error {
	all, err := p.Topology.Nodes()
	if err != nil {
		return err
	}
	if err := p.Access.validate(); err != nil {
		return err
	}
	trial := *p
	trial.Cluster, trial.folder, trial.order = "trial", "trial", all
	return trial.config(all[0]).Validate()
}

// awaitReady shows a line of progress until every replica set has a primary and every router is up.
func (p *plan) awaitReady(ctx context.Context, out io.Writer) error {
	show, clear := progressLine(out)
	defer clear()
	began := time.Now()
	for {
		all := p.survey(ctx)
		missing := p.missing(all)
		if missing == "" {
			return nil
		}
		show(missing + ", " + time.Since(began).Round(time.Second).String())
		if id, ended := p.endedEarly(time.Since(began)); ended {
			clear()
			return fmt.Errorf("%s has ended: %s", id, p.lastWords(id))
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			clear()
			return fmt.Errorf("the cluster is not ready: %s; the logs are in %s", missing,
				filepath.Join(p.folder, nodesFolder))
		}
	}
}

// bootTime is within what a process has taken its folder.
const bootTime = 3 * time.Second

// endedEarly is a node whose process does not run although it was started a while ago.
func (p *plan) endedEarly(since time.Duration) (env.NodeID, bool) {
	if since < bootTime {
		return "", false
	}
	for _, id := range p.order {
		if _, is := p.running(id); !is {
			return id, true
		}
	}
	return "", false
}

// lastWords is the last line of a node's log.
func (p *plan) lastWords(id env.NodeID) string {
	file := filepath.Join(p.of(id), logFile)
	text, err := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || lines[len(lines)-1] == "" {
		return "it has logged nothing in " + file
	}
	return lines[len(lines)-1]
}

// progressLine rewrites one line on a terminal; elsewhere it prints one now and then.
func progressLine(out io.Writer) (show func(line string), clear func()) {
	const elsewhere = 5 * time.Second
	next := time.Now().Add(elsewhere)
	if f, ok := out.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return func(line string) { fmt.Fprintf(out, "\r\x1b[K%s", line) },
			func() { fmt.Fprint(out, "\r\x1b[K") }
	}
	return func(line string) {
		if now := time.Now(); now.After(next) {
			fmt.Fprintln(out, line)
			next = now.Add(elsewhere)
		}
	}, func() {}
}

// describe says how to reach what runs.
func (p *plan) describe(out io.Writer) {
	t := p.Topology
	fmt.Fprintf(out, "The cluster is ready: %s with %s each, a config server with %s, %s.\n",
		counted(t.Shards, "shard", "shards"), counted(t.Members, "member", "members"),
		counted(t.ConfigMembers, "member", "members"), counted(t.Routers, "router", "routers"))
	for _, id := range p.order {
		if isRouter(id) {
			fmt.Fprintf(out, "  %-12s clients on %s\n", id, p.clientAddress(id))
		}
	}
	for _, id := range p.order {
		fmt.Fprintf(out, "  %-12s nodes on %s, admin http://%s\n", id, address(p.Nodes[id]),
			address(p.Admin[id]))
	}
	fmt.Fprintf(out, "  data, logs and configuration files are in %s\n", p.folder)
}
