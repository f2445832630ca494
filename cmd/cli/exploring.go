package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/terminal"
	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/search"
)

// exploreJob is one search in progress.
type exploreJob struct {
	flags    *exploreFlags
	command  *cobra.Command
	start    search.Start
	strategy search.Strategy
	out      string
	kept     *keptSearch
	progress *terminal.Progress
	begun    time.Time
	cpu      time.Duration // that was used before
	// searchState is that of the search as a whole, earlier what of it was there before.
	searchState
	earlier searchState
	found   []string  // folders of failing runs of this command
	at      time.Time // when it last found something new
	err     error
}

// open begins the folder of the search, or opens it again to go on.
func (j *exploreJob) open() (err error) {
	f := j.flags
	title := fmt.Sprintf("shardproof explore 1: %s from seed %d, protocol %s, exhaust %t",
		f.strategy, f.first, f.protocol, f.exhaust)
	if j.kept, err = openSearch(j.flags.targets, j.out, title); err != nil {
		return err
	}
	j.earlier = j.kept.state
	j.searchState = j.kept.state
	j.Sum.Counters = runner.NewCounters()
	j.Sum.Add(j.earlier.Sum.Counters)
	j.at = j.begun.Add(-j.Quiet)
	j.start.At, j.start.Corpus = j.Mark, j.kept.corpus
	return nil
}

// do searches, keeps and tells.
func (j *exploreJob) do(strategy search.Strategy) error {
	f := j.flags
	ctx, cancel := f.within(j.command)
	defer cancel()
	j.strategy = strategy
	err := search.Run(search.Options{
		Targets:  j.flags.targets,
		Strategy: strategy,
		Workers:  f.parallel,
		Runs:     f.runs,
		Done:     j.done,
		Round:    j.round,
		Seen:     j.kept.seen,
		Taken:    j.Taken,
		Stop:     func() bool { return ctx.Err() != nil || f.cpu > 0 && j.used() >= f.cpu },
	})
	j.progress.Clear()
	return j.tell(err)
}

func (j *exploreJob) used() time.Duration { return cpuTime() - j.cpu }

// done counts a run, keeps it when it failed, and says whether to go on.
func (j *exploreJob) done(_ int, o *search.Outcome) bool {
	j.Sum.Add(o.Counters)
	j.Taken++
	run := j.Sum.Runs
	if len(o.New) > 0 {
		j.Situations, j.Last, j.at = j.Situations+len(o.New), run, time.Now()
		j.kept.met(o.New)
	}
	if !o.Passed() {
		j.progress.Clear()
		j.keep(run, o.Result)
		j.save()
	}
	j.progress.Show(func() string {
		return fmt.Sprintf("%s runs, %d failed, %s, %s", withCommas(uint64(run)), len(j.Found),
			terminal.Pace(run, j.earlier.Sum.Runs, j.earlier.Sum.Runs+j.flags.runs,
				time.Since(j.begun)), j.novelty(run))
	})
	full := !j.flags.keepGoing || j.flags.failures > 0 && len(j.found) >= j.flags.failures
	return j.err == nil && (len(j.found) == 0 || !full)
}

// round writes down where the search stands, so that a later command goes on from there.
func (j *exploreJob) round(at search.Place) bool {
	j.Mark, j.Seen, j.Taken = at.Mark, at.Seen, 0
	j.err = errors.Join(j.err, j.kept.keepCorpus(&j.searchState, at.Corpus))
	j.save()
	return j.err == nil
}

func (j *exploreJob) save() {
	s := j.searchState
	s.Quiet = time.Since(j.at)
	s.Sum.CPU += j.used()
	s.Sum.Wall += time.Since(j.begun)
	j.err = errors.Join(j.err, j.kept.save(s))
}

// keep saves a failing run and tells its story.
func (j *exploreJob) keep(run int, failed *runner.Result) {
	folder := filepath.Join(j.out, fmt.Sprintf("%s-%d-%d", failed.Signature(), j.start.Seed, run))
	save := folder
	if _, err := os.Stat(folder); err == nil {
		save = "" // a command that was killed in this round has kept the run
	}
	r, err := harness.RunAndSave(failed.Plan(),
		runner.Options{Targets: j.flags.targets, Events: true}, save, thisEnvironment())
	if err != nil {
		j.err = errors.Join(j.err, err)
		return
	}
	j.Code, j.Found = worseCode(j.Code, codeOf(failed)), append(j.Found, folder)
	out := j.command.OutOrStdout()
	if j.found = append(j.found, folder); len(j.found) > explainedMost {
		fmt.Fprintf(out, "%s   %s\n", failed.Signature(), folder)
		noteFailure(j.command, failed, folder, commandLine("replay", folder))
		return
	}
	tellFailure(j.command, r, explain.Where{
		Run:    fmt.Sprintf("run %s", withCommas(uint64(run))),
		Folder: folder,
		Replay: []string{commandLine("replay", folder)},
		Shrink: []string{commandLine("shrink", folder)},
		Look:   []string{filepath.Join(folder, "story.md"), filepath.Join(folder, "scenario.txt")},
	})
}

// novelty says whether the search still leads anywhere.
func (j *exploreJob) novelty(run int) string {
	if run == j.Last {
		return fmt.Sprintf("%s states", withCommas(uint64(j.Situations)))
	}
	return fmt.Sprintf("%s states, none new in the last %s runs (%s)",
		withCommas(uint64(j.Situations)), withCommas(uint64(run-j.Last)),
		time.Since(j.at).Round(time.Second))
}

// tell ends the search: what was kept of it, and its result.
func (j *exploreJob) tell(searched error) error {
	if j.err == nil {
		j.save()
	}
	err := errors.Join(searched, j.err, j.kept.close())
	j.summarise()
	switch {
	case err != nil:
		return &exitError{exitHarness, err}
	case j.Code != exitPassed:
		return exitWith(j.Code)
	case j.command.Context().Err() != nil:
		return exitWith(exitInterrupted)
	}
	return nil
}

func (j *exploreJob) summarise() {
	w := &terminal.Sheet{}
	defer w.Print(j.command.OutOrStdout())
	s := j.Sum
	countRuns(j.command, s.Counters, len(j.Found), 0)
	countSearch(j.command, map[string]int{"states": j.Situations, "seeds": j.strategy.Over()})
	w.Row("strategy", "%s", j.flags.strategy)
	w.Row("runs", "%s, %s finished",
		withCommas(uint64(s.Runs)), counted(j.strategy.Over(), "seed", "seeds"))
	w.Row("failures", "%d%s", len(j.Found), strings.Join(append([]string{""}, j.Found...), " "))
	w.Row("novelty", "%s", j.novelty(s.Runs))
	w.Row("migrations", "%s", migrationsText(s.Counters))
	w.Row("faults", "%s", countsText(s.Faults))
	sites := j.flags.targets[0].Describe().Sites
	w.Row("failpoints", "%d of %d reached", s.SitesReached(sites), len(sites))
	w.Row("time", "%s, %.2f s of CPU time, on %s",
		(s.Wall + time.Since(j.begun)).Round(10*time.Millisecond), (s.CPU + j.used()).Seconds(),
		counted(j.flags.parallel, "worker", "workers"))
	if before := j.earlier.Sum; before.Runs > 0 {
		w.Row("earlier", "%s of these runs, in %.2f s of CPU time, by earlier commands",
			withCommas(uint64(before.Runs)), before.CPU.Seconds())
	}
}
