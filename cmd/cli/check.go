package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/jepsen"
)

// searchLimits bounds the searches of one file: the longest for one key, the most operations on it,
// and how many keys that the quick check has explained are searched nevertheless.
func searchLimits(longest time.Duration) checkers.Limits {
	return checkers.Limits{Search: longest, Acts: 100_000, Sample: 1000}
}

func newCheck() *cobra.Command {
	var longest time.Duration
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "check recorded client histories: shardproof's own, or Jepsen's",
		Long: `Check decides whether client histories keep their consistency promises. It
reads shardproof's own histories (history.ndjson.zst, plain NDJSON, or the folder of a saved run)
and the logs of Jepsen's etcd and key-value tests. It prints one verdict for each file, with its
violations below it.`,
		Example: "  shardproof check out/lost-write-4711\n  shardproof check etcd_000.log",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(errors.New(c.CommandPath() + " needs at least one history file"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			// Most of the memory is the history, which stays: less room for garbage is enough.
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			code := exitPassed
			for _, file := range args {
				of, err := checkOne(c.OutOrStdout(), file, searchLimits(longest))
				if err != nil {
					return usageError(err)
				}
				code = worseCode(code, of)
			}
			return exitWith(code)
		},
	}
	c.Flags().DurationVar(&longest, "longest", time.Minute,
		"time limit of the linearizability search for one key")
	return c
}

// checkOne judges one file and prints its line.
func checkOne(out io.Writer, file string, limits checkers.Limits) (int, error) {
	if info, err := os.Stat(file); err != nil {
		return 0, fmt.Errorf("%s is neither a file nor the folder of a saved run", file)
	} else if info.IsDir() {
		folder := file
		file = filepath.Join(folder, rundir.HistoryFile)
		if _, err := os.Stat(file); err != nil {
			return 0, fmt.Errorf("%s is not a saved run: it holds no %s",
				folder, rundir.HistoryFile)
		}
	}
	ops, err := readOps(file)
	if err != nil {
		return 0, err
	}
	verdicts := checkers.Check(ops, limits)
	worst := checkers.Worst(verdicts)
	fmt.Fprintf(out, "%-9s %s   %s operations\n",
		strings.ToUpper(string(worst.Outcome)), file, withCommas(uint64(len(ops))))
	printVerdicts(out, verdicts)
	return outcomeCode(worst.Outcome), nil
}

// recognised is how much of a file tells its format.
const recognised = 1 << 16

// readOps reads a file in any of the known formats.
func readOps(file string) ([]histories.Op, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, recognised)
	head, err := in.Peek(recognised)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if jepsen.Recognise(head) {
		return jepsen.Read(file, in)
	}
	_, ops, err := histories.ReadSized[histories.Op](file, in, histories.SizeOf(f))
	return ops, err
}

// violationsShown is how many violations of a file are told.
const violationsShown = 3

func printVerdicts(out io.Writer, verdicts []checkers.Verdict) {
	for _, v := range verdicts {
		if v.Outcome == checkers.Pass {
			continue
		}
		fmt.Fprintf(out, "  %s: %s\n", v.Checker, v.Promise)
		for _, line := range v.Undecided {
			fmt.Fprintf(out, "    undecided: %s\n", line)
		}
		for i := range v.Violations[:min(violationsShown, len(v.Violations))] {
			explainOne(out, &v.Violations[i])
		}
		if more := v.Found - violationsShown; more > 0 {
			fmt.Fprintf(out, "    and %d more\n", more)
		}
	}
}

func explainOne(out io.Writer, v *checkers.Violation) {
	const outputWidth, hanging = 100, 6
	broke := explain.Wrap(fmt.Sprintf("    %s: %s", v.Signature, v.Broke), outputWidth, hanging)
	fmt.Fprintln(out, strings.Join(broke, "\n"))
	for i, because := range explain.FirstLines(v.Because, 6) {
		link := "because"
		if i > 0 {
			link = "and"
		}
		because = strings.TrimPrefix(because, "and ")
		lines := explain.Wrap(fmt.Sprintf("      %-7s %s", link, because), outputWidth, 2*hanging+2)
		fmt.Fprintln(out, strings.Join(lines, "\n"))
	}
}
