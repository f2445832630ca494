// Command mutation measures the power of shardproof to find bugs that nobody thought of: it makes
// mutants of the system by rules, builds one program with all of them, and tries a sample, drawn by
// a seed, with growing budgets of CPU time.
//
// Interrupted or killed, the same command goes on where it was; with a larger budget or sample it
// does what is missing.
//
// Promise: nothing in the project's tree is written but the report that is asked for. What is
// killed was noticed by the program itself: a broken promise, a panic or a hang; all else is listed
// as survived, undecided or never executed. Refusal: it does not say what a survivor means. Those
// that break nothing are judged in equivalent.txt, with reasons.
//
// Exit codes: 0 done, 1 it failed, 64 wrong flags, 130 interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	exitFailed      = 1
	exitUsage       = 64
	exitInterrupted = 130
)

// options are the flags.
type options struct {
	root, out, plan, report, of string
	list, count                 bool
	sample, workers             int
	seed                        uint64
	cpu                         time.Duration
	memory                      int64
	only                        string
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the project's top folder")
	flag.StringVar(&o.out, "out", "out/mutation", "the folder for the build and the state")
	flag.StringVar(&o.plan, "plan", "ci/mutation/plan.txt", "the commands that try a mutant")
	flag.StringVar(&o.report, "report", "", "write the report to this file as well")
	flag.StringVar(&o.of, "of", "",
		"only mutants that survived in this state or report of an earlier campaign")
	flag.StringVar(&o.only, "only", "", "only mutants whose identity contains this text")
	flag.BoolVar(&o.list, "list", false, "list the sample with its changes, and try none")
	flag.BoolVar(&o.count, "count", false, "count mutants by rule and package, and try none")
	flag.IntVar(&o.sample, "sample", 600, "how many mutants; 0 for all")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed of the sample")
	flag.IntVar(&o.workers, "workers", 1, "how many mutants are tried at a time")
	flag.DurationVar(&o.cpu, "cpu", 20*time.Second, "how much CPU time a mutant gets")
	flag.Int64Var(&o.memory, "memory", 2<<30, "how many bytes of data a process may have")
	flag.Parse()
	if flag.NArg() > 0 || o.workers < 1 || o.sample < 0 || o.cpu <= 0 {
		const wrong = "mutation takes flags only: at least one worker, some CPU time; see -h"
		fmt.Fprintln(os.Stderr, wrong)
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "mutation: interrupted; the same command goes on from here")
		os.Exit(exitInterrupted)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(exitFailed)
	}
}

// absolute makes the paths of the options absolute; those of the tree are below its root.
func (o *options) absolute() (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	for _, path := range []*string{&o.out, &o.plan} {
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(o.root, *path)
		}
	}
	return nil
}

// command is what makes the same report.
func (o *options) command() string {
	words := []string{
		"go run ./ci/mutation", fmt.Sprintf("-sample %d -seed %d -cpu %s", o.sample, o.seed, o.cpu),
	}
	if o.only != "" {
		words = append(words, "-only "+o.only)
	}
	if o.of != "" {
		words = append(words, "-of "+o.of)
	}
	return strings.Join(words, " ")
}
