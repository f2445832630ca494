package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/shrink"
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

// keepShape keeps a run that fails with a known signature when it has another shape than those that
// are kept: it may be another bug, and must not be lost behind the first.
func (f *runFlags) keepShape(c *cobra.Command, failure *campaign.Failure, m *remembering) error {
	shape := m.shapeOf(failure)
	if shape == "" || !m.WantsShape(failure.Result.Kind(), shape) {
		return nil
	}
	name := fmt.Sprintf("%s-%d", failure.Result.Signature(), failure.Seed)
	_, name, err := f.saveNew(failure.Result.Scenario, name)
	if err != nil {
		return fmt.Errorf("the failing run could not be saved: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "KNOWN  %s   in another shape: %s   Replay  %s\n",
		failure.Result.Kind(), shape, commandLine("replay", filepath.Join(f.memory, name)))
	return m.HasShape(failure.Result.Kind(), shape, newSighting(failure.Seed), name)
}

// shaped remembers the shape of a failing run that was kept.
func (r *remembering) shaped(f *campaign.Failure, folder string) error {
	shape := r.shapeOf(f)
	if shape == "" || !r.WantsShape(f.Result.Kind(), shape) {
		return nil
	}
	return r.HasShape(f.Result.Kind(), shape, newSighting(f.Seed), folder)
}

// shapeOf is the shape of a failing run; empty when it is not worth the effort, or when nothing
// can be made of the run.
func (r *remembering) shapeOf(f *campaign.Failure) string {
	if r == nil || !r.WorthShaping(f.Result.Kind()) {
		return ""
	}
	shape, err := shrink.Shape(r.targets, f.Result)
	if err != nil {
		return ""
	}
	return shape
}
