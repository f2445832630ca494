// Command gate proves that shardproof finds what it is there to find: it builds the tool once for
// each known bug, runs the ordinary campaign on that build and demands that one of the named
// checkers reports the bug within its budget of seeds.
//
// It also measures how long strategies take to find them, and how small their failures can be made.
//
// Promise: a bug counts as found only by a checker that its about.txt names.
//
// Refusal: it says nothing about bugs that nobody has planted.
//
// Exit codes: 0 all found, 4 the gate itself failed, 5 a bug was missed or seen by a checker that
// is not on its list, or its failure was not made small as it should be, 64 wrong flags. Only
// tables that are asked for are written.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/ci/knownbugs"
)

const (
	exitFailed = 4
	exitMissed = 5
	exitUsage  = 64
)

type options struct {
	root   string
	only   string
	demo   string
	table  string
	budget int
	// compare measures strategies, or those that are named, with so much CPU time for each start.
	compare  bool
	strategy string
	cpu      time.Duration
	// shrunk makes the first failures small.
	shrunk bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the project's top folder")
	flag.StringVar(&o.only, "bug", "", "comma-separated list of known bugs")
	flag.StringVar(&o.demo, "demo", "",
		"run this known bug with everything the tool prints, then replay the failure")
	flag.StringVar(&o.table, "table", "",
		"also update the rows of the bugs that are found in this Markdown table; others stay")
	flag.IntVar(&o.budget, "budget", 0,
		"only known bugs whose budget is at most this many seeds; 0 for all")
	flag.BoolVar(&o.compare, "strategies", false,
		"measure how long every strategy takes to find each known bug, into "+
			"ci/knownbugs/STRATEGIES.md")
	flag.StringVar(&o.strategy, "strategy", "",
		"with -strategies: comma-separated list of strategies")
	flag.DurationVar(&o.cpu, "cpu", 3*time.Second,
		"with -strategies: how much CPU time one start of a strategy has")
	flag.BoolVar(&o.shrunk, "shrunk", false,
		"measure how small the first failure of each known bug can be made, into "+
			"ci/knownbugs/SHRUNK.md")
	parseFlags()
	code, err := runGate(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
	}
	os.Exit(code)
}

// parseFlags ends the process with the exit code for wrong flags, which package flag has not.
func parseFlags() {
	flag.CommandLine.Init("gate", flag.ContinueOnError)
	switch err := flag.CommandLine.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		os.Exit(exitUsage)
	case flag.NArg() > 0:
		fmt.Fprintf(os.Stderr, "gate takes flags only, not %q; see -h\n", flag.Args())
		os.Exit(exitUsage)
	}
}

func runGate(o options) (int, error) {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return exitFailed, err
	}
	bugs, err := knownbugs.Load(filepath.Join(root, "ci", "knownbugs", "bugs"))
	if err != nil {
		return exitFailed, err
	}
	if only := o.only + o.demo; only != "" {
		names := strings.Split(only, ",")
		bugs = slices.DeleteFunc(bugs, func(b knownbugs.Bug) bool {
			return !slices.Contains(names, b.Name)
		})
		for _, name := range names {
			named := func(b knownbugs.Bug) bool { return b.Name == name }
			if !slices.ContainsFunc(bugs, named) {
				return exitUsage, fmt.Errorf("there is no known bug %q; each is a folder of "+
					"ci/knownbugs/bugs", name)
			}
		}
	}
	if o.budget > 0 {
		bugs = slices.DeleteFunc(bugs, func(b knownbugs.Bug) bool { return b.Seeds > o.budget })
	}
	if len(bugs) == 0 {
		return exitUsage, fmt.Errorf("no known bug has a budget of at most %d seeds", o.budget)
	}
	scratch, err := os.MkdirTemp("", "shardproof-gate-")
	if err != nil {
		return exitFailed, err
	}
	defer os.RemoveAll(scratch)
	if o.demo != "" {
		return demonstrateBug(&bugs[0], root, scratch)
	}
	if o.compare {
		return measureAll(bugs, o, root, scratch)
	}
	if o.shrunk {
		return shrinkAll(bugs, o, root, scratch)
	}
	return judgeAll(bugs, root, scratch, o.table)
}
