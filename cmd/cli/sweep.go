package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/terminal"
	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/race"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// matrixFile is the table in the folder of a sweep.
const matrixFile = "matrix.md"

// sweepFlags are the flags of `sweep`.
type sweepFlags struct {
	replayFlags
	pairs    bool
	most     int
	matrices string
}

func newSweep(targets target.Set) *cobra.Command {
	f := &sweepFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use: "sweep [BASE | SEED | SCENARIO-FILE]",
		Short: "try every single fault at every injection point of one scenario, or pairs of " +
			"faults",
		Long: `Sweep runs a scenario without faults and records every injection point: every
time that a failpoint is passed, every message and every durable write. Then it runs the scenario
once for each fault that makes sense at each point. With --pairs it runs pairs of faults, in an
order that covers all phases evenly even if it is stopped early. If it is interrupted, the same command
resumes the sweep.

The matrix is printed and written to OUT/matrix.md. A row is a phase and the actor that the
fault hits. The phase is the state of the migration, movePrimary or range deletion at that moment:
"before" is before the first of them begins, and the last phase lasts to the end of the run. Donor
and recipient are those of the first migration; "other" is any other shard, or an operator. A cell
counts runs: "7" if every promise held in all of them, "**5 of 7**" if it did in 5.

Columns:
` + sweepKinds() + `
Without an argument, "migration" is swept. BASE is one of these; all but the first three are the
scripts of activities:
` + sweepBases(),
		Example: "  shardproof sweep migration\n  shardproof sweep --pairs --runs 200000 " +
			"migration\n  shardproof sweep scenario.txt --keep-going",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError(fmt.Errorf("%s takes one base, seed or scenario file, and %d "+
					"arguments were given", c.CommandPath(), len(args)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"migration"}
			}
			return f.sweep(c, args[0])
		},
	}
	c.Flags().BoolVar(&f.pairs, "pairs", false, "pairs of faults instead of single ones")
	c.Flags().StringVar(&f.of, "target", "", "the system under test, for the scenario of a seed")
	c.Flags().IntVar(&f.most, "runs", 0,
		"stop after this many runs in total, earlier commands included; 0 for all")
	c.Flags().StringVar(&f.protocol, "protocol", "8.0",
		"the protocol version of the servers of a base: 8.0 or 4.2")
	f.longFlags(c)
	c.Flags().BoolVar(&f.keepGoing, "keep-going", false,
		"collect failures instead of stopping at the first")
	c.Flags().StringVar(&f.matrices, "matrix", "",
		"a Markdown file of several matrices in which this one is updated once all runs are done")
	c.Flags().StringVar(&f.out, "out", "",
		"the folder for progress, the matrix and failing runs (default: out/sweep-BASE)")
	f.seeds = 1
	if _, err := targets.Find(race.System); err == nil {
		c.AddCommand(newRace(targets))
	}
	return c
}

func sweepBases() string {
	var all strings.Builder
	for _, b := range generate.Bases() {
		fmt.Fprintf(&all, "%s\t%s\n", b.Name, b.About)
	}
	return indented(all.String())
}

// sweepKinds explains the columns of the matrix.
func sweepKinds() string {
	var all strings.Builder
	for _, k := range sweep.Kinds {
		if about := sweep.About(k); about != "" {
			fmt.Fprintf(&all, "%s\t%s\n", k, about)
		}
	}
	return indented(all.String())
}

func (f *sweepFlags) sweep(c *cobra.Command, what string) error {
	if err := notNegative("for", f.for_); err != nil {
		return usageError(err)
	}
	p, base, err := f.plan(what)
	if err != nil {
		return usageError(err)
	}
	j := &sweepJob{
		flags:    f,
		what:     what,
		plan:     p,
		matrix:   sweep.NewMatrix(p),
		begun:    time.Now(),
		progress: terminal.NewProgress(c.ErrOrStderr()),
		out: cmp.Or(f.out,
			filepath.Join("out", p.Base.Name+map[bool]string{true: "-pairs"}[f.pairs])),
	}
	if err := j.open(base); err != nil {
		return folderError(err)
	}
	return j.do(c)
}

// plan finds out what is to be swept, and runs it without faults.
func (f *sweepFlags) plan(what string) (*sweep.Plan, *runner.Result, error) {
	switch {
	case f.parallel < 1 || f.most < 0:
		return nil, nil, errors.New("--parallel must be 1 or more, --runs 0 or more")
	case f.pairs && f.most == 0 && f.for_ == 0:
		return nil, nil, errors.New("--pairs needs --runs or --for: all pairs would take weeks")
	case !slices.Contains(scenario.Protocols, f.protocol):
		return nil, nil, fmt.Errorf("--protocol is 8.0 or 4.2, not %q", f.protocol)
	}
	if _, err := os.Stat(what); err == nil {
		s, err := f.read(what)
		if err != nil {
			return nil, nil, err
		}
		s.Name = "sweep-" + strings.TrimSuffix(filepath.Base(what), ".txt")
		return sweep.PlanOf(f.targets, s, nil)
	}
	if seed, err := strconv.ParseUint(what, 10, 64); err == nil {
		return f.planSeed(seed)
	}
	b, err := generate.FindBase(what)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is neither a seed nor an existing file, and %w", what, err)
	}
	s := b.Scenario(
		map[bool]string{true: "", false: f.protocol}[f.protocol == scenario.Protocols[0]],
	)
	return sweep.PlanOf(f.targets, s, b.Wanted)
}

// planSeed sweeps the drawn scenario of a seed, without the faults that it has.
func (f *sweepFlags) planSeed(seed uint64) (*sweep.Plan, *runner.Result, error) {
	f.profile = "sweep"
	draw, err := f.drawer()
	if err != nil {
		return nil, nil, err
	}
	s := draw(seed)
	s.Name, s.Faults, s.Planned = fmt.Sprintf("sweep-seed-%d", seed), nil, true
	return sweep.PlanOf(f.targets, s, nil)
}

// sweepJob is one sweep in progress.
type sweepJob struct {
	flags    *sweepFlags
	what     string // the base or the file
	plan     *sweep.Plan
	matrix   *sweep.Matrix
	out      string
	journal  *rundir.Journal
	from     int
	begun    time.Time
	before   spent     // by earlier commands
	noted    time.Time // when the time was last written down
	progress *terminal.Progress
	folders  []string
	kept     error
}

func (j *sweepJob) sweeping() sweep.Part {
	return sweep.Part{
		Targets: j.flags.targets,
		Pairs:   j.flags.pairs,
		From:    j.from,
		To:      j.flags.most,
		Workers: j.flags.parallel,
	}
}

// open begins the folder of the sweep, or opens it again and counts what was done.
func (j *sweepJob) open(base *runner.Result) error {
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return err
	}
	title := fmt.Sprintf("shardproof sweep 1: %s, trace hash %s, %d faults, pairs %t",
		j.plan.Base.Name, base.HashText(), len(j.plan.Singles), j.flags.pairs)
	var err error
	if j.journal, err = rundir.OpenJournal(filepath.Join(j.out, journalFile), title); err != nil {
		return err
	}
	if len(j.journal.Lines) == 0 {
		if err := ownFile(filepath.Join(j.out, matrixFile), ""); err != nil {
			return errors.Join(err, j.journal.Close())
		}
	}
	if _, err := rundir.ReadKept(filepath.Join(j.out, spentFile), spentSchema,
		&j.before); err != nil {
		return errors.Join(err, j.journal.Close())
	}
	for _, line := range j.journal.Lines {
		j.count(j.from, sweep.ParseOutcome(line))
		j.from++
	}
	return nil
}

func (j *sweepJob) count(number int, o sweep.Outcome) {
	s := j.sweeping()
	var planned []*sweep.FaultCase
	for _, n := range s.Planned(j.plan, number) {
		planned = append(planned, &j.plan.Singles[n])
	}
	j.matrix.Add(o, planned...)
}

// do runs what is left, keeps failures and tells the result.
func (j *sweepJob) do(c *cobra.Command) error {
	ctx, cancel := j.flags.within(c)
	defer cancel()
	s := j.sweeping()
	s.Stop = func() bool { return ctx.Err() != nil }
	s.Done = func(number int, o sweep.Outcome, failed *runner.Result) bool {
		if failed != nil {
			j.progress.Clear()
			j.keep(c, number, failed)
		}
		j.journal.Append(o.String())
		j.count(number, o)
		j.note(spentEvery)
		j.progress.Show(func() string {
			return fmt.Sprintf("%s of %s runs, %d broke a promise, %s",
				withCommas(uint64(j.matrix.Runs)), withCommas(uint64(j.wanted())), j.matrix.Broke,
				terminal.Pace(j.matrix.Runs, j.from, j.wanted(), time.Since(j.begun)))
		})
		return j.kept == nil && j.journal.Err() == nil && (failed == nil || j.flags.keepGoing)
	}
	err := sweep.Run(j.plan, s)
	j.progress.Clear()
	if j.kept == nil && j.journal.Err() == nil && j.matrix.Runs > j.from {
		j.note(0)
	}
	if err := errors.Join(err, j.kept, j.journal.Close(), j.finish(c)); err != nil {
		return &exitError{exitHarness, err}
	}
	switch {
	case j.matrix.Broke > 0:
		return exitWith(exitBroke)
	case c.Context().Err() != nil:
		return exitWith(exitInterrupted)
	}
	return nil
}

// spent is the time that the sweep has taken so far.
func (j *sweepJob) spent() spent {
	return spent{j.before.CPU + cpuTime(), j.before.Wall + time.Since(j.begun)}
}

// note writes down the time when that was not done for so long.
func (j *sweepJob) note(every time.Duration) {
	if time.Since(j.noted) >= every {
		j.kept = errors.Join(j.kept,
			rundir.WriteKept(filepath.Join(j.out, spentFile), spentSchema, j.spent()))
		j.noted = time.Now()
	}
}

// keep saves a failing run and tells its story.
func (j *sweepJob) keep(c *cobra.Command, number int, failed *runner.Result) {
	folder := filepath.Join(j.out, fmt.Sprintf("%s-%d", failed.Signature(), number))
	r, err := harness.RunAndSave(failed.Scenario, runner.Options{Targets: j.flags.targets}, folder,
		thisEnvironment())
	if err != nil {
		j.kept = err
		return
	}
	if j.folders = append(j.folders, folder); len(j.folders) > explainedMost {
		fmt.Fprintf(c.OutOrStdout(), "%s   %s\n", failed.Signature(), folder)
		noteFailure(c, failed, folder, commandLine("replay", folder))
		return
	}
	tellFailure(c, r, explain.Where{
		Run:    fmt.Sprintf("run %s", withCommas(uint64(number))),
		Folder: folder,
		Replay: []string{commandLine("replay", folder)},
		Shrink: []string{commandLine("shrink", folder)},
	})
}

// finish prints the matrix and keeps it.
func (j *sweepJob) finish(c *cobra.Command) error {
	s := j.sweeping()
	rows := fmt.Sprintf("%s: %s of %s runs, %s reached their fault, %d broke a promise",
		j.plan.Base.Name, withCommas(uint64(j.matrix.Runs)), withCommas(uint64(s.Runs(j.plan))),
		withCommas(uint64(j.matrix.Reached)), j.matrix.Broke)
	took := j.spent()
	countSearch(c, map[string]int{"runs": j.matrix.Runs, "reached": j.matrix.Reached,
		"failures": j.matrix.Broke, "runs in all": s.Runs(j.plan)})
	fmt.Fprintf(c.OutOrStdout(), "%s\n%s; %s on %d workers, CPU %.2f s%s\n",
		j.matrix, rows, took.Wall.Round(100*time.Millisecond), j.flags.parallel,
		took.CPU.Seconds(), j.parts())
	err := rundir.Replace(filepath.Join(j.out, matrixFile),
		fmt.Appendf(nil, "%s\n%s.\n", j.matrix, rows))
	if j.flags.matrices == "" || !j.complete() {
		return err
	}
	name := j.name()
	return errors.Join(err,
		renewSection(j.flags.matrices, matricesHead, name, j.section(name, rows)))
}

// parts says what of it earlier commands have done.
func (j *sweepJob) parts() string {
	if j.from == 0 {
		return ""
	}
	return fmt.Sprintf(", %s runs of it by earlier commands", withCommas(uint64(j.from)))
}

// complete reports whether all runs that were asked for are done.
func (j *sweepJob) complete() bool { return j.matrix.Runs >= j.wanted() }

// wanted is how many runs were asked for, those of earlier commands included.
func (j *sweepJob) wanted() int {
	s := j.sweeping()
	most := s.Runs(j.plan)
	if j.flags.most > 0 {
		most = min(most, j.flags.most)
	}
	return most
}

// name is what the sweep is about: "migration, 8.0".
func (j *sweepJob) name() string {
	name := strings.TrimPrefix(j.plan.Base.Name, "sweep-") + ", " + cmp.Or(j.plan.Base.Protocol,
		scenario.Protocols[0])
	if j.flags.pairs {
		name += ", pairs"
	}
	return name
}

// section is the matrix as a part of a larger text.
func (j *sweepJob) section(name, rows string) string {
	all := j.spent()
	took := fmt.Sprintf("in %s of CPU time, %s on %d workers",
		all.CPU.Round(time.Second), all.Wall.Round(time.Second), j.flags.parallel)
	return fmt.Sprintf("## %s\n\n`%s`\n\n%s, %s.\n\n%s",
		strings.ToUpper(name[:1])+name[1:], j.command(), rows, took, j.matrix)
}

// command is what makes the same sweep, wherever it is kept: a page that is kept names the program
// by its name, not by the path that it was called by.
func (j *sweepJob) command() string {
	command := "shardproof sweep"
	if j.flags.protocol != scenario.Protocols[0] {
		command += " --protocol " + j.flags.protocol
	}
	if j.flags.pairs {
		command += " --pairs"
	}
	if j.flags.most > 0 {
		command += fmt.Sprintf(" --runs %d", j.flags.most)
	}
	return command + " " + j.what
}
