package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories/formats"
)

// checkLimits bound what one file may cost.
type checkLimits struct {
	search checkers.Limits
	// total is the longest time to search all keys of a file, 0 for any; most is how many bytes it
	// may have, unpacked; memory is how many bytes of memory a file may take, 0 for any.
	total  time.Duration
	most   int64
	memory int64
}

// refuse says which limit cannot be one.
func (l *checkLimits) refuse() error {
	switch {
	case l.search.Search <= 0:
		return fmt.Errorf("--longest must be more than 0s, not %v", l.search.Search)
	case l.total < 0:
		return fmt.Errorf("--for must be 0s (no limit) or more, not %v", l.total)
	case l.most < 0:
		return fmt.Errorf("--max-bytes must be 0 (no limit) or more, not %d", l.most)
	case l.memory < 0:
		return fmt.Errorf("--max-memory must be 0 (no limit) or more, not %d", l.memory)
	}
	return nil
}

// memoryReached names the limit of memory when the process has taken that much.
func (l *checkLimits) memoryReached() string {
	if l.memory == 0 || memoryTaken() < l.memory {
		return ""
	}
	return fmt.Sprintf("the limit of memory, --max-memory %d bytes", l.memory)
}

// memoryTaken is how much of the system's memory Go's runtime holds.
func memoryTaken() int64 {
	taken := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(taken)
	return int64(taken[0].Value.Uint64() - taken[1].Value.Uint64())
}

// errMemory is the reason to stop reading.
var errMemory = errors.New("reading it was ended by")

// begin starts the time of a file.
func (l checkLimits) begin() checkers.Limits {
	if l.total > 0 {
		end := time.Now().Add(l.total)
		l.search.Left = func() time.Duration { return time.Until(end) }
	}
	l.search.Stop = l.memoryReached
	return l.search
}

func newCheck() *cobra.Command {
	l := checkLimits{search: checkers.Limits{Acts: 100_000, Sample: 1000, FirstProof: true}}
	var all bool
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "check recorded client histories: shardproof's own, or those of other tools",
		Long: `Check decides whether client histories satisfy their consistency promises. It
reads shardproof's own histories (history.ndjson.zst, plain NDJSON, or the folder of a saved run),
Jepsen's history.edn, the logs of its etcd and key-value tests, and porcupine's operations as JSON.
It prints one verdict for each file, with its violations below. A history with an unknown word, an
impossible time, or overlapping calls of one client is refused before anything is judged.`,
		Example: "  shardproof check out/lost-write-4711\n  shardproof check etcd_000.log",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(errors.New(c.CommandPath() + " needs at least one history file"))
			}
			if err := l.refuse(); err != nil {
				return usageError(err)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			defer collectLate(l.memory)() // most of the memory is the history
			l.search.FirstProof = !all
			code := exitPassed
			for _, file := range args {
				of, err := checkOne(c, file, l)
				if err != nil {
					return usageError(err)
				}
				code = worseCode(code, of)
			}
			countSearch(c, map[string]int{"files": len(args)})
			return exitWith(code)
		},
	}
	c.Flags().DurationVar(&l.search.Search, "longest", time.Minute,
		"time limit of the linearizability search for one key")
	c.Flags().DurationVar(&l.total, "for", 10*time.Minute,
		"time limit of the linearizability search for all keys of a file; 0 for no limit")
	c.Flags().BoolVar(&all, "all", false,
		"check every key, instead of stopping at the first violation")
	c.Flags().Int64Var(&l.most, "max-bytes", 8<<30,
		"refuse a file with more bytes than this, unpacked; 0 for no limit")
	c.Flags().Int64Var(&l.memory, "max-memory", 4<<30,
		"stop and leave a file undecided when this many bytes of memory are taken; 0 for no limit")
	return c
}

// checkOne judges one file and prints its line.
func checkOne(c *cobra.Command, file string, limits checkLimits) (int, error) {
	out := c.OutOrStdout()
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
	var ops checkers.History
	err := formats.Each(file, formats.Limits{Bytes: limits.most, Stop: func() error {
		if limit := limits.memoryReached(); limit != "" {
			return fmt.Errorf("%w %s", errMemory, limit)
		}
		return nil
	}}, ops.Add)
	switch {
	case errors.Is(err, errMemory):
		fmt.Fprintf(out, "UNDECIDED %s   %v\n", printable(file), err)
		noteUnread(c, file, err)
		return exitUndecided, nil
	case err != nil:
		return 0, err
	}
	count := ops.Len() + len(ops.Watches)
	verdicts := checkers.CheckHistory(&ops, limits.begin())
	worst := checkers.Worst(verdicts)
	fmt.Fprintf(out, "%-9s %s   %s operations\n",
		strings.ToUpper(string(worst.Outcome)), printable(file), withCommas(uint64(count)))
	printVerdicts(out, verdicts)
	noteFile(c, file, count, verdicts)
	return outcomeCode(worst.Outcome), nil
}

// printable writes characters that control a terminal as Go does: what a file holds cannot pass for
// a line of the program.
func printable(text string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsPrint(c) {
			b.WriteRune(c)
			continue
		}
		quoted := strconv.QuoteRune(c)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
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
			fmt.Fprintf(out, "    undecided: %s\n", printable(line))
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
	broke := explain.Wrap(fmt.Sprintf("    %s: %s", v.Signature, printable(v.Broke)),
		outputWidth, hanging)
	fmt.Fprintln(out, strings.Join(broke, "\n"))
	for i, because := range explain.FirstLines(v.Because, 6) {
		link := "because"
		if i > 0 {
			link = "and"
		}
		because = strings.TrimPrefix(because, "and ")
		lines := explain.Wrap(fmt.Sprintf("      %-7s %s", link, printable(because)),
			outputWidth, 2*hanging+2)
		fmt.Fprintln(out, strings.Join(lines, "\n"))
	}
}
