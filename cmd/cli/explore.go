package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/cmd/cli/terminal"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness/search"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// exploreFlags are the flags of `explore`.
type exploreFlags struct {
	runFlags
	strategy string
	runs     int
	cpu      time.Duration
	exhaust  bool
}

func newExplore(targets target.Set) *cobra.Command {
	f := &exploreFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "explore",
		Short: "search for failures with a strategy instead of random seeds alone",
		Long: `Explore generates scenarios with a search strategy, runs and checks them, and
reports when it last reached a state that no earlier run had reached. Failing scenarios replay and
shrink like any other. It ends after --seeds, --runs, --for or --cpu, whichever comes first, and
at the first failure unless --keep-going is given. Without a limit it goes on until a failure or an
interruption. Its folder holds the failing runs, the journal, and the scenarios that reached new
states. If it is interrupted or killed, the same command resumes the search and adds to its totals.

Strategies:
` + strategyNames(),
		Example: "  shardproof explore --for 10m\n  shardproof explore --strategy reorder " +
			"--seeds 50\n  shardproof explore --strategy sweep --seeds 1 --exhaust",
		Args: flagsOnly("--first-seed and --seeds choose the seeds"),
		RunE: func(c *cobra.Command, _ []string) error { return f.explore(c) },
	}
	c.Flags().StringVar(&f.strategy, "strategy", "portfolio",
		"the search strategy; see: "+programName()+" list strategies")
	c.Flags().IntVar(&f.seeds, "seeds", 0, "stop after this many seeds; 0 for no limit")
	c.Flags().Uint64Var(&f.first, "first-seed", 1, "the first seed")
	c.Flags().IntVar(&f.runs, "runs", 0,
		"stop after this many runs of this command; 0 for no limit")
	c.Flags().DurationVar(&f.cpu, "cpu", 0, "stop after this much CPU time, summed over all cores")
	c.Flags().BoolVar(&f.exhaust, "exhaust", false,
		"sweep and reorder try everything for a seed before the next one")
	f.protocolFlag(c)
	f.longFlags(c)
	f.collectFlags(c)
	c.Flags().StringVar(&f.out, "out", "", "the folder for results (default: out/explore-STRATEGY)")
	f.profiling.flags(c)
	return c
}

func strategyNames() string {
	var b strings.Builder
	for _, in := range search.Strategies() {
		fmt.Fprintf(&b, "  %-16s %s\n", in.Name, in.About)
	}
	return b.String()
}

func (f *exploreFlags) explore(c *cobra.Command) (end error) {
	in, start, err := f.start()
	if err == nil {
		err = cmp.Or(notNegative("cpu", f.cpu), f.runFlags.refuse(c))
	}
	if in.Name != "sweep" && in.Name != "reorder" && in.Name != "portfolio" {
		err = cmp.Or(err, withoutEffect(c, "on the strategy "+in.Name, "exhaust"))
	}
	if err != nil {
		return usageError(err)
	}
	stop, err := f.profiling.start()
	if err != nil {
		return usageError(err)
	}
	defer func() { end = unlessKept(end, "the profile", stop()) }()
	j := &exploreJob{
		flags:    f,
		start:    start,
		out:      cmp.Or(f.out, filepath.Join("out", "explore-"+in.Name)),
		begun:    time.Now(),
		cpu:      cpuTime(),
		progress: terminal.NewProgress(c.ErrOrStderr()),
		command:  c,
	}
	if err := j.open(); err != nil {
		return folderError(err)
	}
	return j.do(in.New(j.start))
}

// start is what the search begins with, before anything that an earlier command has done.
func (f *exploreFlags) start() (in search.Info, s search.Start, err error) {
	s = search.Start{Targets: f.targets, Seed: f.first, Seeds: f.seeds, Exhaust: f.exhaust}
	switch {
	case f.seeds < 0 || f.runs < 0 || f.parallel < 1:
		return in, s, errors.New("--seeds and --runs must be 0 or more, --parallel 1 or more")
	case f.seeds+f.runs == 0 && f.for_+f.cpu == 0:
		return in, s, errors.New(
			"explore needs --seeds, --runs, --for or --cpu; otherwise it would never end",
		)
	case f.protocol != "both" && !slices.Contains(scenario.Protocols, f.protocol):
		return in, s, fmt.Errorf("--protocol is 8.0, 4.2 or both, not %q", f.protocol)
	case f.protocol != "both":
		s.Protocol = f.protocol
	}
	in, err = search.Find(f.strategy)
	return in, s, err
}
