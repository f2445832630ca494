package cluster

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/process"
)

func newStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status FOLDER",
		Short: "show shards, databases, collections with their chunks, and nodes",
		Args:  one("the folder of a cluster"),
		RunE: failing(func(c *cobra.Command, args []string) error {
			p, err := load(args[0])
			if err != nil {
				return err
			}
			all := p.survey(c.Context())
			p.print(c.OutOrStdout(), all)
			if missing := p.missing(all); missing != "" {
				return &failure{exitDegraded, fmt.Errorf("the cluster is degraded: %s; "+
					"`shardproof cluster start %s` starts what is not running", missing, args[0])}
			}
			return nil
		}),
	}
}

// print writes a status in the order of the shell's sh.status().
func (p *plan) print(out io.Writer, all map[env.NodeID]*process.Status) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	defer w.Flush()
	led := primaries(all)
	if config := led[configsvr.Name]; config != nil && config.Catalog != nil {
		printCatalog(w, config.Catalog)
	} else {
		fmt.Fprintln(w, "the config server has no primary, so the catalog cannot be read")
	}
	fmt.Fprintln(w, "nodes")
	for _, id := range p.order {
		s := all[id]
		if s == nil {
			fmt.Fprintf(w, "  %s\tdoes not answer\n", id)
			continue
		}
		uptime := time.Duration(s.Uptime * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(w, "  %s\t%s\t%s\tprocess %d\tincarnation %d\tup %s\n", id, s.Role, place(s),
			s.Pid, s.Incarnation, uptime)
	}
}

// place is how far a member's log is.
func place(s *process.Status) string {
	if s.Set == "" {
		return ""
	}
	return fmt.Sprintf("term %d, entry %d, majority %d", s.Term, s.Applied, s.Majority)
}

func printCatalog(w io.Writer, c *process.Catalog) {
	fmt.Fprintln(w, "shards")
	for _, s := range c.Shards {
		note := strings.Join(s.Zones, ", ")
		if note != "" {
			note = "zones " + note
		}
		if s.Draining {
			note += " draining"
		}
		if note != "" {
			note = "\t" + strings.TrimSpace(note)
		}
		fmt.Fprintf(w, "  %s\t%s%s\n", s.Name, s.Host, note)
	}
	fmt.Fprintf(w, "balancer\n  mode %s, %d migrations in progress\n", c.Balancer, c.Migrations)
	fmt.Fprintln(w, "databases")
	for _, d := range c.Databases {
		fmt.Fprintf(w, "  %s\tprimary %s\n", d.Name, d.Primary)
	}
	fmt.Fprintln(w, "collections")
	for _, coll := range c.Collections {
		var chunks []string
		for _, shard := range slices.Sorted(maps.Keys(coll.Chunks)) {
			chunks = append(chunks, fmt.Sprintf("%s %d", shard, coll.Chunks[shard]))
		}
		fmt.Fprintf(w, "  %s\tkey %s\tchunks %s\n", coll.NS, coll.Key, strings.Join(chunks, ", "))
	}
}
