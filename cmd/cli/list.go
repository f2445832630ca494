package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/lists"
	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness/target"
)

// listed is a line of a list for programs.
type listed struct {
	List  string   `json:"list"`
	Name  string   `json:"name"`
	About []string `json:"about"`
}

func newList(targets target.Set) *cobra.Command {
	names, system := lists.Names(), ""
	c := &cobra.Command{
		Use: "list [" + strings.Join(names, "|") + "]...",
		Short: "list profiles, faults, failpoints, workloads, checkers, signatures, settings, " +
			"sweeps, activities and strategies",
		Long: `List prints what scenarios can be made of, what checks them, and what the
signatures of violations mean. Without a name it prints all lists, one below the other.`,
		Example: "  shardproof list\n  shardproof list failpoints\n" +
			"  shardproof list settings faults",
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = names
			}
			of, err := targets.Find(system)
			if err != nil {
				return usageError(err)
			}
			for _, name := range args {
				if err := lists.Write(c.OutOrStdout(), of, name, len(args) > 1); err != nil {
					return usageError(err)
				}
				for _, row := range lists.Rows(of, name) {
					results.Of(c.Context()).More("entries", 1)
					results.Of(c.Context()).Enter(listed{name, row[0], row[1:]})
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&system, "target", "",
		"the system under test; by default the sharded store")
	return c
}
