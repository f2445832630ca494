package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/system/env"
)

func newStop() *cobra.Command {
	var timeout time.Duration
	var nodes []string
	c := &cobra.Command{
		Use:   "stop FOLDER",
		Short: "stop a cluster, or some of its nodes",
		Long: `Stops every process of the cluster at once. No primary steps down first; nothing that
a majority acknowledged is lost. With --node, a primary among the nodes steps down first.`,
		Args: one("the folder of a cluster"),
		RunE: failing(func(c *cobra.Command, args []string) error {
			p, err := load(args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			return p.stop(ctx, c, nodes)
		}),
	}
	c.Flags().StringArrayVar(&nodes, "node", nil,
		"stop only this node, such as shard-a.0; may be given several times")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second,
		"how long to wait before a process is killed")
	return c
}

// nodeNames lists the nodes for a sentence.
func (p *plan) nodeNames() string {
	names := make([]string, len(p.order))
	for i, id := range p.order {
		names[i] = string(id)
	}
	return strings.Join(names, ", ")
}

func (p *plan) stop(ctx context.Context, c *cobra.Command, nodes []string) error {
	ids, how := slices.Clone(p.order), syscall.SIGINT
	if len(nodes) > 0 {
		ids, how = nil, syscall.SIGTERM
	}
	for _, name := range nodes {
		if !slices.Contains(p.order, env.NodeID(name)) {
			return &failure{exitUsage, fmt.Errorf("the cluster has no node %q; its nodes are %s",
				name, p.nodeNames())}
		}
		ids = append(ids, env.NodeID(name))
	}
	ids = slices.DeleteFunc(ids, func(id env.NodeID) bool {
		_, is := p.running(id)
		return !is
	})
	for _, id := range ids {
		if err := p.signal(id, how); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if p.awaitEnd(ctx, id) == nil {
			continue
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s does not end by itself and is killed\n", id)
		if err := p.signal(id, syscall.SIGKILL); err != nil {
			return err
		}
		killed, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := p.awaitEnd(killed, id)
		cancel()
		if err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "Nothing was running.")
		return nil
	}
	fmt.Fprintf(c.OutOrStdout(), "%s stopped.\n", counted(len(ids), "process", "processes"))
	return nil
}
