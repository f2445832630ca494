package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
)

// machineFlags have a command tell programs what it found.
type machineFlags struct {
	json  bool
	junit string
}

// judging are the commands whose results pipelines read as tests.
var judging = []string{"run", "explore", "sweep", "race", "check", "replay", "attack"}

// tellMachines gives the commands below c their flags for programs, as far as they find something.
func tellMachines(c *cobra.Command) {
	for _, sub := range c.Commands() {
		tellMachines(sub)
		told := append(slices.Clone(judging), "list", "memory", "merge", "report", "selfcheck")
		if sub.RunE == nil || !slices.Contains(told, sub.Name()) {
			continue
		}
		f := &machineFlags{}
		sub.Flags().BoolVar(&f.json, "json", false,
			"print the results as one JSON document, and nothing else")
		if slices.Contains(judging, sub.Name()) {
			sub.Flags().StringVar(&f.junit, "junit", "",
				"also write the results to a file, as JUnit's XML")
		}
		do := sub.RunE
		sub.RunE = func(c *cobra.Command, args []string) error { return f.do(c, args, do) }
	}
}

// do carries out a command, and tells programs what came of it.
func (f *machineFlags) do(
	c *cobra.Command, args []string, do func(*cobra.Command, []string) error,
) error {
	d := &results.Document{Command: c.CommandPath(), Build: versionText()}
	out, begun := c.OutOrStdout(), time.Now()
	if f.json {
		c.SetOut(io.Discard)
	}
	c.SetContext(results.With(c.Context(), d))
	err := do(c, args)
	c.SetOut(out)
	d.Count("seconds", time.Since(begun).Seconds())
	if err != nil {
		end := endOf(err)
		d.Exit, d.Error = end.code, end.Error()
	}
	told := f.tell(d, out)
	if slices.Contains(judging, c.Name()) && d.Exit != exitUsage {
		told = errors.Join(told, tellGitHub(d, c.ErrOrStderr()))
	}
	if told != nil {
		told = fmt.Errorf("the results could not be written: %w", told)
		return &exitError{worseCode(d.Exit, exitHarness), errors.Join(err, told)}
	}
	return err
}

func (f *machineFlags) tell(d *results.Document, out io.Writer) (err error) {
	if f.json {
		err = d.JSON(out)
	}
	if f.junit == "" {
		return err
	}
	return errors.Join(err, writeWith(f.junit, os.O_TRUNC, d.JUnit))
}

// tellGitHub writes what GitHub shows of a step, inside of one.
func tellGitHub(d *results.Document, out io.Writer) error {
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		d.Annotate(out)
	}
	if file := os.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
		return writeWith(file, os.O_APPEND, d.Summary)
	}
	return nil
}

// writeWith has a function write a file, which is there or not.
func writeWith(path string, how int, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// countRuns notes for programs what runs have done.
func countRuns(c *cobra.Command, s *runner.Counters, failures, undecided int) {
	countSearch(c, map[string]int{
		"runs": s.Runs, "failures": failures, "undecided": undecided, "operations": s.Ops,
		"migrations committed": s.Committed, "migrations aborted": s.Aborted,
		"steps": int(s.Steps),
	})
}

// countSearch notes numbers for programs.
func countSearch(c *cobra.Command, numbers map[string]int) {
	d := results.Of(c.Context())
	for name, n := range numbers { //shardproof:allow map each sets a number of its own
		d.Count(name, float64(n))
	}
}

// tellFailure prints the failure block of a run, and notes it for programs.
func tellFailure(c *cobra.Command, r *runner.Result, w explain.Where) {
	block := explain.Report(r, w)
	fmt.Fprintln(c.OutOrStdout(), block)
	one := caseOf(r, w.Folder, w.Replay)
	one.Known, one.Text = w.Known, block
	results.Of(c.Context()).Add(one)
}

// noteFile notes for programs what was found of a file.
func noteFile(c *cobra.Command, file string, operations int, verdicts []checkers.Verdict) {
	results.Of(c.Context()).More("operations", float64(operations))
	worst := checkers.Worst(verdicts)
	one := results.Case{
		Name: file, Outcome: string(worst.Outcome), Checker: worst.Checker, Promise: worst.Promise,
	}
	if len(worst.Violations) > 0 {
		v := &worst.Violations[0]
		one.Signature, one.Broke, one.Because = string(v.Signature), v.Broke, v.Because
	} else if len(worst.Undecided) > 0 {
		one.Broke = worst.Undecided[0]
	}
	var text strings.Builder
	printVerdicts(&text, verdicts)
	one.Text = text.String()
	results.Of(c.Context()).Add(one)
}

// noteUnread notes for programs a file that a limit left undecided.
func noteUnread(c *cobra.Command, file string, why error) {
	results.Of(c.Context()).Add(results.Case{
		Name: file, Outcome: string(checkers.Undecided), Broke: why.Error(),
	})
}

// noteFailure notes for programs a failure that is only named.
func noteFailure(c *cobra.Command, r *runner.Result, folder string, replay ...string) {
	results.Of(c.Context()).Add(caseOf(r, folder, replay))
}

// caseOf is a run for programs; in no folder, if that is empty.
func caseOf(r *runner.Result, folder string, replay []string) results.Case {
	worst := r.Worst()
	one := results.Case{
		Name: fmt.Sprintf("%s seed %d", r.Scenario.Name, r.Scenario.Seed), Seed: r.Scenario.Seed,
		Outcome: string(worst.Outcome), Signature: r.Signature(), Kind: r.Kind(),
		Checker: worst.Checker, Promise: worst.Promise, Folder: folder, Replay: replay,
	}
	if len(worst.Violations) > 0 {
		one.Broke, one.Because = worst.Violations[0].Broke, worst.Violations[0].Because
	} else if len(worst.Undecided) > 0 {
		one.Broke = worst.Undecided[0]
	}
	one.At, one.Code = explain.CodeAt(r), explain.CodeLines(r)
	if page := folder + "/" + rundir.ReportFile; folder != "" {
		if _, err := os.Stat(page); err == nil {
			one.Page = page
		}
	}
	return one
}
