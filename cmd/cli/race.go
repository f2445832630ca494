package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shardproof/shardproof/cmd/cli/terminal"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/race"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// pairsFile is the list of pairs in the folder of a race sweep.
const pairsFile = "pairs.md"

// raceFlags are the flags of `sweep race`.
type raceFlags struct {
	runFlags
	activities []string
	first      string
	most       int
	passes     int
	cpu        time.Duration
	matrices   string
}

func newRace(targets target.Set) *cobra.Command {
	f := &raceFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "race",
		Short: "hold one activity at a site until another reaches one of its sites, for every pair",
		Long: `Race runs two activities of the store, such as the donor side of a migration and
range deletion, at the same time in a small cluster. It holds the first at one of its failpoint sites,
starts the second, and releases the first when the second reaches a chosen site of its own. There is
one run for every site of the first with every site that the second reaches. In further runs the
hold outlasts every timeout, or the held node steps down meanwhile. The pairs of activities take
turns, so that any budget covers all of them. If the sweep is interrupted, the same command resumes
it. "list activities" shows the activities.`,
		Example: "  shardproof sweep race --for 10m\n  shardproof sweep race --activities " +
			"donor,range-deletion --keep-going",
		Args: flagsOnly("--activities names the activities"),
		RunE: func(c *cobra.Command, _ []string) error { return f.race(c) },
	}
	c.Flags().StringSliceVar(&f.activities, "activities", nil,
		"only pairs of these activities (default: all)")
	c.Flags().StringVar(&f.first, "held", "", "only pairs in which this activity is held")
	c.Flags().IntVar(&f.most, "max", 0,
		"stop after this many runs in total, earlier commands included; 0 for all")
	c.Flags().IntVar(&f.passes, "passes", 1,
		"how many passes of a site are held: the first, the last, others between")
	c.Flags().DurationVar(&f.cpu, "cpu", 0,
		"stop after this much CPU time, summed over all cores; 0 for no limit")
	f.protocolFlag(c)
	f.longFlags(c)
	f.collectFlags(c)
	c.Flags().StringVar(&f.matrices, "matrix", "",
		"a Markdown file in which the matrix is updated once all runs are done")
	c.Flags().StringVar(&f.out, "out", filepath.Join("out", "sweep-race"),
		"the folder for progress, the tables and failing runs")
	return c
}

// pairs are those that the flags ask for.
func (f *raceFlags) pairs() ([]race.Pair, error) {
	protocols := []string{"", "4.2"}
	switch {
	case f.parallel < 1 || f.passes < 1 || f.most < 0:
		return nil, errors.New("--parallel and --passes must be 1 or more, --max 0 or more")
	case f.protocol == scenario.Protocols[0]:
		protocols = protocols[:1]
	case f.protocol == "4.2":
		protocols = protocols[1:]
	case f.protocol != "both":
		return nil, fmt.Errorf("--protocol is 8.0, 4.2 or both, not %q", f.protocol)
	}
	return race.Pairs(f.activities, f.first, protocols)
}

func (f *raceFlags) race(c *cobra.Command) error {
	pairs, err := f.pairs()
	if err == nil {
		_, err = f.targets.Find(race.System)
	}
	if err != nil {
		return usageError(err)
	}
	j := &raceJob{
		flags:    f,
		command:  c,
		plan:     race.New(pairs, f.passes),
		begun:    time.Now(),
		cpu:      cpuTime(),
		progress: terminal.NewProgress(c.ErrOrStderr()),
		kept:     make(map[string]int),
	}
	if err := j.open(pairs); err != nil {
		return folderError(err)
	}
	return j.do()
}

// raceJob is one race sweep under way.
type raceJob struct {
	flags    *raceFlags
	command  *cobra.Command
	plan     *race.Plan
	journal  *rundir.Journal
	known    []race.Outcome // of earlier commands
	runs     int
	begun    time.Time
	cpu      time.Duration // that was used before
	before   spent         // by earlier commands
	noted    time.Time     // when the time was last written down
	progress *terminal.Progress
	kept     map[string]int // failures, by signature
	failures int
	complete bool
	err      error
}

// title says which sweep a journal belongs to, and of which build: what the first script does.
func (j *raceJob) title(pairs []race.Pair) (string, error) {
	f := j.flags
	first := race.Case{Pair: race.Pair{First: pairs[0].First, Protocol: pairs[0].Protocol}}
	r, err := runner.Run(first.Scenario(), runner.Options{Targets: f.targets})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("shardproof sweep race 1: %d pairs, activities %q, held %q, protocol %s, "+
		"passes %d, trace hash %s", len(pairs), f.activities, f.first, f.protocol, f.passes,
		r.HashText()), nil
}

// open begins the folder of the sweep, or opens it again.
func (j *raceJob) open(pairs []race.Pair) error {
	f := j.flags
	title, err := j.title(pairs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	if j.journal, err = rundir.OpenJournal(filepath.Join(f.out, journalFile), title); err != nil {
		return err
	}
	if len(j.journal.Lines) == 0 {
		if err := ownFile(filepath.Join(f.out, pairsFile), ""); err != nil {
			return errors.Join(err, j.journal.Close())
		}
	}
	for _, line := range j.journal.Lines {
		o, err := race.ParseOutcome(line)
		if err != nil {
			return errors.Join(err, j.journal.Close())
		}
		j.known = append(j.known, o)
	}
	j.runs = len(j.known)
	_, err = rundir.ReadKept(filepath.Join(f.out, spentFile), spentSchema, &j.before)
	if err != nil {
		return errors.Join(err, j.journal.Close())
	}
	return nil
}

// do runs what is left, keeps failures and tells the result.
func (j *raceJob) do() error {
	f := j.flags
	ctx, cancel := f.within(j.command)
	defer cancel()
	over := func() bool {
		return ctx.Err() != nil || f.cpu > 0 && cpuTime()-j.cpu >= f.cpu ||
			f.most > 0 && j.runs >= f.most
	}
	err := race.Run(j.plan, race.Options{
		Targets: f.targets,
		Workers: f.parallel,
		Known:   j.outcome,
		Stop:    over,
		Done: func(number int, c *race.Case, o *race.Outcome, failed *runner.Result) bool {
			j.done(number, c, o, failed)
			full := !f.keepGoing || f.failures > 0 && j.failures >= f.failures
			return j.err == nil && (j.failures == 0 || !full) && !over()
		},
	})
	j.complete = err == nil && j.plan.Left() == 0
	j.progress.Clear()
	j.note(0)
	if err := errors.Join(err, j.err, j.journal.Close(), j.finish()); err != nil {
		return &exitError{exitHarness, err}
	}
	switch {
	case race.Sum(j.plan.Tallies()).Broke > 0:
		return exitWith(exitBroke)
	case j.command.Context().Err() != nil:
		return exitWith(exitInterrupted)
	}
	return nil
}

func (j *raceJob) outcome(number int) *race.Outcome {
	if number < len(j.known) {
		return &j.known[number]
	}
	return nil
}

// done writes down what came of a run.
func (j *raceJob) done(number int, c *race.Case, o *race.Outcome, failed *runner.Result) {
	if failed != nil {
		j.failures++
		j.progress.Clear()
		j.keep(number, c, failed)
	}
	j.journal.Append(o.String())
	j.runs++
	j.err = errors.Join(j.err, j.journal.Err())
	j.note(spentEvery)
	j.progress.Show(func() string {
		return fmt.Sprintf("%s runs, %d broke a promise, %s, %s known to be left",
			withCommas(uint64(j.runs)), j.failures, terminal.Pace(j.runs, len(j.known),
				j.runs+j.plan.Left(), time.Since(j.begun)), withCommas(uint64(j.plan.Left())))
	})
}

// keptOfEach is how many failures with one signature are kept: one cause shows in many runs.
const keptOfEach = 10

// keep saves a failing run and tells its story.
func (j *raceJob) keep(number int, c *race.Case, failed *runner.Result) {
	signature := failed.Signature()
	if j.kept[signature]++; j.kept[signature] > keptOfEach {
		return
	}
	folder := filepath.Join(j.flags.out, fmt.Sprintf("%s-%d", signature, number))
	save := folder
	if _, err := os.Stat(folder); err == nil {
		save = "" // a command that was killed has kept the run
	}
	r, err := harness.RunAndSave(failed.Scenario, runner.Options{Targets: j.flags.targets}, save,
		thisEnvironment())
	if err != nil {
		j.err = errors.Join(j.err, err)
		return
	}
	out := j.command.OutOrStdout()
	fmt.Fprintf(out, "%s   %s   %s\n", signature, c, folder)
	if j.kept[signature] == 1 {
		tellFailure(j.command, r, explain.Where{
			Run:    fmt.Sprintf("run %s", withCommas(uint64(number))),
			Folder: folder,
			Replay: []string{commandLine("replay", folder)},
			Shrink: []string{commandLine("shrink", folder)},
		})
		return
	}
	noteFailure(j.command, failed, folder, commandLine("replay", folder))
}

// spent is the time that the sweep has taken so far.
func (j *raceJob) spent() spent {
	return spent{j.before.CPU + cpuTime() - j.cpu, j.before.Wall + time.Since(j.begun)}
}

// note writes down the time when that was not done for so long.
func (j *raceJob) note(every time.Duration) {
	if time.Since(j.noted) >= every {
		j.err = errors.Join(j.err,
			rundir.WriteKept(filepath.Join(j.flags.out, spentFile), spentSchema, j.spent()))
		j.noted = time.Now()
	}
}

// finish prints the result and keeps the tables.
func (j *raceJob) finish() error {
	all, took := j.plan.Tallies(), j.spent()
	sum := race.Sum(all)
	rows := fmt.Sprintf("%s runs of %s pairs, %s held and released, %s unlike each other, "+
		"%d broke a promise", withCommas(uint64(j.runs)), withCommas(uint64(len(all))),
		withCommas(uint64(sum.Held)), withCommas(uint64(sum.Distinct)), sum.Broke)
	countSearch(j.command, map[string]int{"runs": j.runs, "pairs": len(all), "held": sum.Held,
		"distinct": sum.Distinct, "failures": sum.Broke})
	left := ""
	if !j.complete {
		left = fmt.Sprintf(", %s known to be left", withCommas(uint64(j.plan.Left())))
	}
	fmt.Fprintf(j.command.OutOrStdout(), "%s\n%s%s; %s on %d workers, CPU %.2f s\n",
		race.Matrix(all), rows, left, took.Wall.Round(100*time.Millisecond), j.flags.parallel,
		took.CPU.Seconds())
	err := rundir.Replace(filepath.Join(j.flags.out, pairsFile),
		[]byte(race.List(all, took.CPU)))
	if j.flags.matrices == "" || !j.complete {
		return err
	}
	name := j.flags.protocol
	section := fmt.Sprintf("## Protocol %s\n\n%s, in %s of CPU time, %s on %d workers.\n\n%s",
		name, rows, took.CPU.Round(time.Second),
		took.Wall.Round(time.Second), j.flags.parallel, race.Matrix(all))
	return errors.Join(err, renewSection(j.flags.matrices, raceHead, name, section))
}

// spent is the time that a sweep has taken in all its parts. Killed, it forgets the last second or
// so.
type spent struct{ CPU, Wall time.Duration }

const (
	spentFile   = "time.json"
	spentSchema = "shardproof.time/1"
	spentEvery  = time.Second
)
