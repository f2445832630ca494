package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness/failuredb"
)

func newMemory() *cobra.Command {
	return &cobra.Command{
		Use:   "memory FOLDER",
		Short: "list the failures that campaigns have recorded",
		Long: `Memory lists the failure signatures in the folder that was given to run
--memory: whether each is new, known, fixed or came back, how many runs failed with it, when it
was first and last seen, and the saved runs.`,
		Example: "  shardproof run --memory nightly --seeds 100000\n  shardproof memory nightly",
		Args:    exactlyOne("the folder that was given to run --memory"),
		RunE:    func(c *cobra.Command, args []string) error { return listMemory(c, args[0]) },
	}
}

func listMemory(c *cobra.Command, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, failuredb.File)); err != nil {
		return usageError(fmt.Errorf("%s is not a folder of run --memory: it holds no %s",
			dir, failuredb.File))
	}
	m, err := failuredb.Open(dir)
	if err != nil {
		return &exitError{exitHarness, err}
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "status\tsignature\truns\tfirst seen\tlast seen\tkept")
	for _, e := range m.Entries() {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%v\n",
			e.Status, e.Signature, e.Times, sightingText(e.First), sightingText(e.Last), e.Cases)
		results.Of(c.Context()).Enter(e)
	}
	countSearch(c, map[string]int{"signatures": len(m.Entries())})
	if err := w.Flush(); err != nil {
		return err
	}
	return m.Close()
}

func sightingText(s failuredb.Sighting) string {
	text := fmt.Sprintf("%s seed %d", s.At.Format(time.DateOnly), s.Seed)
	if s.Build != "" {
		text += " build " + s.Build
	}
	return text
}
