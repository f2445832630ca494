package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/artefact"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "check recorded histories: ours, or Jepsen's",
		Long: `Check judges what clients saw. It reads history files of shardproof (history.ndjson.zst, or the folder of a saved run)
and the logs of Jepsen's etcd and key-value tests, one verdict a line; a violation is explained below it.`,
		Example: "  shardproof check out/lost-write-4711\n  shardproof check etcd_000.log",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("shardproof check wants at least one history file"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			code := exitPassed
			for _, file := range args {
				of, err := checkOne(c.OutOrStdout(), file)
				if err != nil {
					return usage(err)
				}
				code = worse(code, of)
			}
			return told(code)
		},
	}
}

// checkOne judges one file and prints its line.
func checkOne(out io.Writer, file string) (int, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, artefact.HistoryFile)
	}
	verdicts, checked, err := judge(file)
	if err != nil {
		return 0, err
	}
	worst := checkers.Worst(verdicts)
	fmt.Fprintf(out, "%-9s %s   %s operations\n", strings.ToUpper(string(worst.Outcome)), file, grouped(uint64(checked)))
	explain(out, verdicts)
	return outcomeCode(worst.Outcome), nil
}

// judge reads a file in whichever of the known formats it is.
func judge(file string) ([]checkers.Verdict, int, error) {
	_, ops, err := histories.ReadFile[histories.Op](file)
	if err != nil {
		return nil, 0, err
	}
	return checkers.History(ops, checkers.Limits{}), len(ops), nil
}

// explained is how many violations of a file are told.
const explained = 3

func explain(out io.Writer, verdicts []checkers.Verdict) {
	for _, v := range verdicts {
		if v.Outcome == checkers.Pass {
			continue
		}
		fmt.Fprintf(out, "  %s: %s\n", v.Checker, v.Promise)
		for _, line := range v.Undecided {
			fmt.Fprintf(out, "    left open: %s\n", line)
		}
		for i := range v.Violations[:min(explained, len(v.Violations))] {
			fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(v.Violations[i].String(), "\n", "\n    "))
		}
		if more := v.Found - explained; more > 0 {
			fmt.Fprintf(out, "    and %d more\n", more)
		}
	}
}
