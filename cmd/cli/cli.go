// Package cli is the command line: flags, exit codes, progress, and the folders in which runs and
// searches are kept. A program for other systems under test is a main function that calls Main.
//
// Stable are Main, the commands with their flags, and the exit codes.
//
// Promise: the exit code says what happened (0 passed, 1 a promise broke, 2 undecided, 3 a replay
// diverged, 4 the harness failed, 64 wrong usage, 130 interrupted); results go to standard output,
// progress and mistakes to standard error; no file is overwritten.
//
// Refusal: nothing is decided here about runs; with harness/campaign and system/live it is the only
// place with a wall clock, an environment and an operating system.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/lists"
	"github.com/shardproof/shardproof/cmd/cli/terminal"
	"github.com/shardproof/shardproof/cmd/supervise"
	"github.com/shardproof/shardproof/harness/target"
)

// Main runs the command line of the process for these systems and returns its exit code. The first
// of them is that of scenarios that name none, and of seeds.
func Main(targets ...target.Target) int { return MainWith(nil, targets...) }

// MainWith is Main with commands of the program's own. An error of theirs may say by a method
// ExitCode what the program ends with. They judge nothing: how they end is not supervised.
func MainWith(own []*cobra.Command, targets ...target.Target) int {
	isOwn := func(c *cobra.Command) bool { return len(os.Args) > 1 && c.Name() == os.Args[1] }
	if slices.ContainsFunc(own, isOwn) {
		return work(own, targets)
	}
	return supervise.Main(func() int {
		collectSeldom()
		return work(own, targets)
	})
}

// work is Main of the process that does the work.
func work(own []*cobra.Command, targets target.Set) int {
	sampleMemory(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if supervise.IsWorker() {
		go supervise.Obey(ctx.Done())
	}
	out := &resultWriter{to: os.Stdout}
	if terminal.Wants(os.Stdout) {
		out.to = terminal.Colour(os.Stdout)
	}
	root := newRoot(targets, own...)
	root.SetOut(out)
	root.SetArgs(os.Args[1:])
	return endCode(root.ExecuteContext(ctx), out.err)
}

// endCode tells what kept a command from its work, and what kept its results from standard output;
// a broken promise is the code whatever else failed.
func endCode(err, unwritten error) int {
	code := exitPassed
	if err != nil {
		end := endOf(err)
		if end.err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", programName(), end.err)
		}
		code = end.code
	}
	if unwritten == nil {
		return code
	}
	fmt.Fprintf(os.Stderr, "%s: the results could not be written: %v\n", programName(), unwritten)
	if code == exitBroke {
		return code
	}
	return exitHarness
}

// endOf is what an error of a command means for the exit code.
func endOf(err error) *exitError {
	var end *exitError
	var other interface{ ExitCode() int }
	switch {
	case errors.As(err, &end):
		return end
	case errors.As(err, &other):
		return &exitError{other.ExitCode(), err}
	}
	return usageError(err)
}

// resultWriter keeps the first error, which printing does not look at.
type resultWriter struct {
	to  io.Writer
	err error
}

func (w *resultWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// aboutText has the name of the program and what its first system is.
const aboutText = `%s runs a whole distributed store in a deterministic simulation, moves
data between its servers while faults are injected, and checks every run for lost, duplicated and
stale data. A seed determines the whole run, so every failure can be replayed step by step.

The store is %s.

Exit codes: 0 passed, 1 a promise was broken, 2 undecided, 3 a replay diverged, 4 the harness
failed, 64 wrong usage, 130 interrupted (with a report of what was done until then).`

const aboutExample = `  shardproof run --seeds 100          look for failures
  shardproof step out/SAVED-RUN       walk through one
  shardproof shrink out/SAVED-RUN     make it small
  shardproof list faults              what can go wrong`

func newRoot(t target.Set, own ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:           programName(),
		Short:         "test that moving data between shards loses nothing",
		Long:          fmt.Sprintf(aboutText, programName(), t[0].Describe().About),
		Version:       versionText(),
		Example:       strings.ReplaceAll(aboutExample, "shardproof", programName()),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(fmt.Errorf("there is no command %q%s; the commands are %s", args[0],
					lists.Likely("", args[0], commandNames(c)), inOneSentence(commandNames(c))))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w; `%s --help` shows the flags",
			flagMistake(c, err), c.CommandPath()))
	})
	root.AddCommand(newRun(t), newExplore(t), newSweep(t), newReplay(t), newShrink(t), newStep(t),
		newReport(t), newCheck(), newMemory(), newMerge(t), newSelfcheck(t),
		newUpgrade(), newList(t))
	root.AddCommand(own...)
	tellMachines(root)
	completeValues(root, t)
	nameExamples(root)
	return root
}

// commandNames are the commands that help shows, but for those that every program has.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			names = append(names, c.Name())
		}
	}
	return names
}

// inOneSentence is "a, b and c".
func inOneSentence(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// nameExamples has the examples of all commands below c begin with the program's name.
func nameExamples(c *cobra.Command) {
	for _, sub := range c.Commands() {
		sub.Example = strings.ReplaceAll(sub.Example, "shardproof ", programName()+" ")
		nameExamples(sub)
	}
}

// programName is what the program was called by, without its folder.
func programName() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }

// commandLine is a command of this program for the reader to give: by the path that the program was
// called by, so that it can be copied. What `go run` has built is gone by then.
func commandLine(words ...string) string {
	return strings.Join(append([]string{calledBy(os.Args[0])}, words...), " ")
}

// calledBy is the path by which a program that was called so can be called again.
func calledBy(path string) string {
	if strings.Contains(path, "go-build") {
		return filepath.Base(path)
	}
	return path
}

// flagsOnly takes no argument, and says what to do instead when there is one.
func flagsOnly(instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return usageError(fmt.Errorf("%s takes flags only, not %q; %s", c.CommandPath(), args[0],
			instead))
	}
}

// exactlyOne takes one argument, and says what it is when there is not just one.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError(errors.New(c.CommandPath() + " needs " + what))
		case len(args) > 1:
			return usageError(fmt.Errorf("%s needs %s, and %d arguments were given",
				c.CommandPath(), what, len(args)))
		}
		return nil
	}
}
