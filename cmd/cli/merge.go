package cli

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/target"
)

func newMerge(targets target.Set) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge --out FOLDER FOLDER...",
		Short: "add up what several machines have found in one campaign",
		Long: `Merge reads the folders in which run --memory has kept parts of one campaign,
each with seeds of its own, and writes a new one with all of it: the seeds, the counts, what was
reached, the signatures of failures, and the first runs that were kept of each. The new folder is
like any of them: memory, report and run --memory take it, and so does another merge.

Parts of different builds, profiles or settings are refused, and so are parts with seeds in
common. A part that has not run all of its seeds is counted as far as it came.

Exit codes: 0 every promise held, 1 one was broken, 2 undecided, 3 a seed took different paths on
two machines, 4 a folder could not be read or written, 64 wrong usage or parts that do not belong
together, 130 a part has seeds left.`,
		Example: "  shardproof run --memory part-1 --first-seed 1 --seeds 5000 --keep-going\n" +
			"  shardproof run --memory part-2 --first-seed 5001 --seeds 5000 --keep-going\n" +
			"  shardproof merge --out all part-1 part-2",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return usageError(errors.New("--out says which new folder the result goes to"))
			}
			return mergeParts(c, targets[0].Describe(), out, args)
		},
	}
	c.Flags().StringVar(&out, "out", "", "the folder to write, which must not exist")
	return c
}

func mergeParts(c *cobra.Command, of *target.Description, out string, parts []string) error {
	all, machines, err := campaign.Merge(out, parts)
	if err != nil {
		return &exitError{mergeCode(err), err}
	}
	left := printMachines(c.OutOrStdout(), machines)
	all.Tally.Sum.Fit()
	printSummary(c.OutOrStdout(), of, all.Tally, noSeeds(), len(machines))
	t := all.Tally
	countRuns(c, t.Sum.Counters, t.Violations, t.Undecided)
	if err := printSignatures(c.OutOrStdout(), out); err != nil {
		return &exitError{exitHarness, err}
	}
	switch {
	case t.Violations > 0:
		return exitWith(exitBroke)
	case t.Diverged > 0:
		return exitWith(exitDiverged)
	case t.Undecided > 0:
		return exitWith(exitUndecided)
	case left > 0:
		return exitWith(exitInterrupted)
	}
	return nil
}

// mergeCode is the exit code of a merge that was refused.
func mergeCode(err error) int {
	var plan *campaign.PlanError
	var overlap *campaign.OverlapError
	var diverged *campaign.DivergedError
	switch {
	case errors.As(err, &plan), errors.As(err, &overlap):
		return exitUsage
	case errors.As(err, &diverged):
		return exitDiverged
	}
	return exitHarness
}

// printMachines prints a line for each part, and returns how many seeds they have left.
func printMachines(out io.Writer, machines []*campaign.Record) (left int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "part\tseeds\tleft\tfailures\twhich")
	for _, m := range machines {
		missing := max(0, m.Tally.Wanted-len(m.Outcomes))
		left += missing
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", m.Folder, withCommas(uint64(len(m.Outcomes))),
			missing, m.Tally.Violations, campaign.RangesText(m.Seeds()))
	}
	return left
}

// printSignatures prints what the memory in a folder holds.
func printSignatures(out io.Writer, folder string) error {
	m, err := failuredb.Open(folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "signatures    %s; more: %s\n", statusesText(m), commandLine("memory", folder))
	return m.Close()
}

// statusesText counts signatures by what is known of them.
func statusesText(m *failuredb.Memory) string {
	counts := make(map[failuredb.Status]int)
	for _, e := range m.Entries() {
		counts[e.Status]++
	}
	return fmt.Sprintf("%d new, %d known, %d fixed, %d came back", counts[failuredb.New],
		counts[failuredb.Known], counts[failuredb.Fixed], counts[failuredb.CameBack])
}
