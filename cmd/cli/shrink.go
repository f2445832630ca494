package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shardproof/shardproof/cmd/cli/terminal"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shrink"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// The files in the folder of a search.
const (
	minFile     = "min.txt"
	journalFile = "journal.txt"
	smallestRun = "smallest"
)

// shrinkFlags are the flags of `shrink`.
type shrinkFlags struct {
	replayFlags
	budget int
	cpu    time.Duration
}

func newShrink(targets target.Set) *cobra.Command {
	f := &shrinkFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "shrink SEED | SCENARIO-FILE | FOLDER",
		Short: "make a failing scenario as small as possible",
		Long: `Shrink searches for the smallest scenario that fails with the same signature:
fewer clients, operations, migrations and faults, a smaller cluster, default settings, less
randomness in the schedule. OUT/min.txt always holds the smallest so far; at the end, comments in
it say what may be different. OUT/smallest is its saved run. If it is interrupted, the same
command resumes the search.

Exit codes: 0 done, 2 the budget ran out (the same command resumes), 3 a run diverged from its
recording, 4 the harness failed, 64 wrong usage or a scenario that passes, 130 interrupted.`,
		Example: "  shardproof shrink out/lost-write-4711\n  shardproof shrink --profile " +
			"contended 4711 --out small",
		Args: exactlyOne("a seed, a scenario file or the folder of a saved run"),
		RunE: func(c *cobra.Command, args []string) error { return f.shrink(c, args[0]) },
	}
	f.seedFlags(c)
	c.Flags().StringVar(&f.out, "out", "",
		"the folder for results (default: next to the scenario, with the suffix -min)")
	c.Flags().IntVar(&f.budget, "runs", 20_000, "the most scenarios that are tried")
	f.longFlags(c)
	c.Flags().DurationVar(&f.cpu, "cpu", 0, "stop after this much CPU time, summed over all cores")
	f.seeds, f.again = 1, 0
	return c
}

func (f *shrinkFlags) shrink(c *cobra.Command, what string) error {
	s, saved, err := f.load(what)
	if err != nil {
		return usageError(err)
	}
	err = cmp.Or(notNegative("for", f.for_), notNegative("cpu", f.cpu), f.refuseReplay(c, what))
	if err != nil {
		return usageError(err)
	}
	if f.budget < 1 || f.parallel < 1 {
		return usageError(errors.New("--runs and --parallel must be 1 or more"))
	}
	from, err := runner.Run(s, runner.Options{Targets: f.targets, Events: saved != ""})
	if err != nil {
		return usageError(err)
	}
	if saved != "" {
		if d, err := explain.Compare(saved, from); err != nil {
			return usageError(err)
		} else if d != nil {
			if err := tellDivergence(c, d); err != nil {
				return err
			}
		}
	}
	if from.Passed() {
		return usageError(&shrink.PassedError{Seed: s.Seed})
	}
	job := &shrinkJob{
		flags:    f,
		from:     from,
		out:      cmp.Or(f.out, f.place(what, from)),
		begun:    time.Now(),
		progress: terminal.NewProgress(c.ErrOrStderr()),
	}
	return job.do(c)
}

// place is where the search of a scenario is kept when nobody says.
func (f *shrinkFlags) place(what string, from *runner.Result) string {
	if _, err := os.Stat(what); err != nil {
		return filepath.Join("out", fmt.Sprintf("%s-%d-min", from.Signature(), from.Scenario.Seed))
	}
	return strings.TrimSuffix(filepath.Clean(what), ".txt") + "-min"
}

// shrinkJob is one search in progress.
type shrinkJob struct {
	flags    *shrinkFlags
	from     *runner.Result
	out      string
	journal  *rundir.Journal
	known    map[uint64]shrink.Trial
	begun    time.Time
	progress *terminal.Progress
	size     string
	runs     int
	err      error
}

// do searches, keeps and tells.
func (j *shrinkJob) do(c *cobra.Command) error {
	if err := j.open(); err != nil {
		return err
	}
	ctx, cancel := j.flags.within(c)
	defer cancel()
	j.size = shrink.Sizes(j.from.Scenario)
	found, err := shrink.Failure(j.from.Scenario, shrink.Options{
		Targets: j.flags.targets,
		Workers: j.flags.parallel,
		Runs:    j.flags.budget,
		Known:   j.known,
		Learned: j.learned,
		Smaller: j.smaller,
		Stop: func() bool {
			return ctx.Err() != nil || j.err != nil || j.flags.cpu > 0 && cpuTime() >= j.flags.cpu
		},
	})
	j.progress.Clear()
	if err := errors.Join(j.err, j.journal.Close()); err != nil {
		return &exitError{exitHarness, fmt.Errorf("the search could not be saved: %w", err)}
	}
	if diverged := (*shrink.DivergedError)(nil); errors.As(err, &diverged) {
		return &exitError{exitDiverged, err}
	}
	if err != nil {
		return &exitError{exitHarness, err}
	}
	if err := j.finish(c, found); err != nil {
		return &exitError{exitHarness, err}
	}
	switch {
	case found.Complete:
		return nil
	case c.Context().Err() != nil:
		return exitWith(exitInterrupted)
	}
	return exitWith(exitUndecided)
}

// open begins the folder of the search, or opens it again.
func (j *shrinkJob) open() error {
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return &exitError{exitHarness, err}
	}
	title := fmt.Sprintf("shardproof shrink 1: seed %d, %s, trace hash %s",
		j.from.Scenario.Seed, j.from.Signature(), j.from.HashText())
	var err error
	if j.journal, err = rundir.OpenJournal(filepath.Join(j.out, journalFile), title); err != nil {
		return folderError(err)
	}
	if len(j.journal.Lines) == 0 {
		if err := ownFile(filepath.Join(j.out, minFile), ""); err != nil {
			return &exitError{exitHarness, errors.Join(err, j.journal.Close())}
		}
	}
	j.known, err = shrink.ParseTrials(j.journal.Lines)
	if err != nil {
		return &exitError{exitHarness, fmt.Errorf("%s: %w", filepath.Join(j.out, journalFile), err)}
	}
	return nil
}

func (j *shrinkJob) learned(key uint64, t shrink.Trial) {
	j.journal.Append(shrink.FormatTrial(key, t))
	j.err = cmp.Or(j.err, j.journal.Err())
	j.runs++
	j.progress.Show(func() string {
		return fmt.Sprintf("%s runs, %s; the smallest so far: %s", withCommas(uint64(j.runs)),
			terminal.Pace(j.runs, 0, 0, time.Since(j.begun)), j.size)
	})
}

func (j *shrinkJob) smaller(s *scenario.Scenario, _ int) {
	j.size = shrink.Sizes(s)
	j.err = cmp.Or(j.err, rundir.Replace(filepath.Join(j.out, minFile), []byte(s.String())))
}

// finish keeps what was found, and explains it.
func (j *shrinkJob) finish(c *cobra.Command, found *shrink.Shrunk) error {
	file := filepath.Join(j.out, minFile)
	if err := rundir.Replace(
		file, []byte(shrink.Annotate(found.Scenario, found.Labels)),
	); err != nil {
		return err
	}
	look, save := file, ""
	if found.Complete {
		look = filepath.Join(j.out, smallestRun)
		if _, err := os.Stat(look); err != nil {
			save = look
		}
	}
	r, err := harness.RunAndSave(found.Scenario,
		runner.Options{Targets: j.flags.targets, Events: true}, save, thisEnvironment())
	if err != nil {
		return err
	}
	w := explain.Where{
		Replay:   []string{commandLine("replay", look)},
		Step:     commandLine("step", look),
		Look:     []string{file},
		Smallest: []string{shrink.Sizes(found.Scenario), "from " + shrink.Sizes(found.From.Plan())},
	}
	if n := explain.FindNearestPassing(r, nil, manyNeighbours, interrupted(c)); n != nil {
		w.Passing = n.Lines()
	}
	out := c.OutOrStdout()
	fmt.Fprint(out, explain.Report(r, w))
	fmt.Fprintf(out, "  %-9s %s runs in %s on %d workers%s\n",
		"Search", withCommas(uint64(found.Runs)), time.Since(j.begun).Round(100*time.Millisecond),
		j.flags.parallel, map[bool]string{
			true:  "",
			false: "; not everything was tried: the same command resumes",
		}[found.Complete])
	return nil
}
