package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explore"
	"github.com/shardproof/shardproof/histories/artefact"
	"github.com/shardproof/shardproof/histories/scenario"
)

// corpusFolder holds, in the folder of a search, the scenarios that led to something new.
const corpusFolder = "corpus"

// exploreJob is one search under way.
type exploreJob struct {
	flags    *exploreFlags
	command  *cobra.Command
	start    explore.Start
	strategy explore.Strategy
	out      string
	journal  *artefact.Journal
	sum      *harness.Counters
	progress *progress
	begun    time.Time
	cpu      time.Duration // that was used before
	// over are the seeds that are behind, earlier those of other commands.
	over, earlier int
	found         []string // folders of failing runs
	code          int
	news          news
	err           error
}

// news are the situations that were met for the first time.
type news struct {
	situations int
	// run and at say when the last one was.
	run int
	at  time.Time
}

// open begins the folder of the search, or opens it again and skips the seeds that are done.
func (j *exploreJob) open() error {
	if err := os.MkdirAll(filepath.Join(j.out, corpusFolder), 0o755); err != nil {
		return err
	}
	f := j.flags
	title := fmt.Sprintf("shardproof explore 1: %s from seed %d, protocol %s, exhaust %t", f.strategy, f.first, f.protocol, f.exhaust)
	var err error
	if j.journal, err = artefact.OpenJournal(filepath.Join(j.out, journalFile), title); err != nil {
		return err
	}
	if n := len(j.journal.Lines); n > 0 {
		if _, err := fmt.Sscanf(j.journal.Lines[n-1], "%d seeds", &j.earlier); err != nil {
			return fmt.Errorf("%s: its last line says not how many seeds are done: %w", filepath.Join(j.out, journalFile), err)
		}
	}
	j.over = j.earlier
	j.start.Seed += uint64(j.earlier)
	if j.start.Seeds > 0 {
		j.start.Seeds = max(j.start.Seeds-j.earlier, 0)
	}
	return j.openCorpus()
}

// openCorpus reads what led to something new before. The files are named by number.
func (j *exploreJob) openCorpus() error {
	files, err := filepath.Glob(filepath.Join(j.out, corpusFolder, "*.txt"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s, err := harness.Parse(file, string(text))
		if err != nil {
			return err
		}
		j.start.Corpus = append(j.start.Corpus, s)
	}
	return nil
}

// do searches, keeps and tells.
func (j *exploreJob) do(strategy explore.Strategy) error {
	f, ctx := j.flags, j.command.Context()
	if f.for_ > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.for_)
		defer cancel()
	}
	j.strategy, j.news.at = strategy, time.Now()
	stop := func() bool { return ctx.Err() != nil || f.cpu > 0 && j.used() >= f.cpu }
	err := explore.Run(explore.Options{Strategy: strategy, Workers: f.parallel, Runs: f.runs, Stop: stop, Done: j.done})
	j.progress.clear()
	return j.tell(err)
}

func (j *exploreJob) used() time.Duration { return cpuTime() - j.cpu }

// done counts a run, keeps it when it failed or led to something new, and says whether to go on.
func (j *exploreJob) done(run int, o *explore.Outcome) bool {
	j.sum.Add(o.Counters)
	if o.New > 0 {
		j.news.situations, j.news.run, j.news.at = j.news.situations+o.New, run, time.Now()
	}
	if over := j.earlier + j.strategy.Over(); over != j.over {
		j.over = over
		j.journal.Append(fmt.Sprintf("%d seeds, %d runs, %d situations", over, run, j.news.situations))
		j.err = errors.Join(j.err, j.journal.Err())
	}
	if !o.Passed() {
		j.progress.clear()
		j.keep(run, o.Result)
	}
	j.progress.text(fmt.Sprintf("%s runs, %d failed, %s", grouped(uint64(run)), len(j.found), j.novelty(run)))
	full := !j.flags.keepGoing || j.flags.failures > 0 && len(j.found) >= j.flags.failures
	return j.err == nil && (len(j.found) == 0 || !full)
}

// keep saves a failing run and tells its story.
func (j *exploreJob) keep(run int, failed *harness.Result) {
	folder := filepath.Join(j.out, fmt.Sprintf("%s-%d-%d", failed.Signature(), j.start.Seed, run))
	r, err := harness.Run(failed.Plan(), harness.Options{Events: true, Folder: folder, Environment: environment()})
	if err != nil {
		j.err = errors.Join(j.err, err)
		return
	}
	j.code = worse(j.code, codeOf(failed))
	out := j.command.OutOrStdout()
	if j.found = append(j.found, folder); len(j.found) > fullyTold {
		fmt.Fprintf(out, "%s   %s\n", failed.Signature(), folder)
		return
	}
	fmt.Fprintln(out, harness.Report(r, harness.Where{
		Run: fmt.Sprintf("run %s", grouped(uint64(run))), Folder: folder, Replay: []string{"shardproof replay " + folder},
		Shrink: []string{"shardproof shrink " + folder}, Look: []string{filepath.Join(folder, "story.md"), filepath.Join(folder, "scenario.txt")},
	}))
}

// novelty says whether the search still leads anywhere.
func (j *exploreJob) novelty(run int) string {
	if run == j.news.run {
		return fmt.Sprintf("%s situations", grouped(uint64(j.news.situations)))
	}
	return fmt.Sprintf("%s situations, the last %s runs (%s) added nothing", grouped(uint64(j.news.situations)),
		grouped(uint64(run-j.news.run)), time.Since(j.news.at).Round(time.Second))
}

// tell ends the search: what was kept of it, and its result.
func (j *exploreJob) tell(searched error) error {
	err := errors.Join(searched, j.err, j.keepCorpus(), j.journal.Close())
	j.summarise()
	switch {
	case err != nil:
		return &ending{exitHarness, err}
	case j.code != exitPassed:
		return told(j.code)
	case j.command.Context().Err() != nil:
		return told(exitInterrupted)
	}
	return nil
}

// keepCorpus writes down what the strategy would go on from.
func (j *exploreJob) keepCorpus() error {
	c, ok := j.strategy.(interface{ Corpus() []*scenario.Scenario })
	if !ok {
		return nil
	}
	for i, s := range c.Corpus() {
		file := filepath.Join(j.out, corpusFolder, fmt.Sprintf("%05d.txt", i+1))
		if err := artefact.Replace(file, []byte(s.String())); err != nil {
			return err
		}
	}
	return nil
}

func (j *exploreJob) summarise() {
	w := tabwriter.NewWriter(j.command.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	s := j.sum
	row("strategy", "%s", j.flags.strategy)
	row("runs", "%s, of seeds %s are done", grouped(uint64(s.Runs)), grouped(uint64(j.over)))
	row("failures", "%d%s", len(j.found), strings.Join(append([]string{""}, j.found...), " "))
	row("novelty", "%s", j.novelty(s.Runs))
	row("migrations", "%s started, %s committed, %s aborted, %s of these by recovery", grouped(uint64(s.Started)),
		grouped(uint64(s.Committed)), grouped(uint64(s.Aborted)), grouped(uint64(s.Recovered)))
	row("faults", "%s", counts(s.Faults))
	row("failpoints", "%d of %d reached", s.SitesReached(), len(s.Sites)-1)
	row("time", "%s, CPU %.2f s, on %d workers", time.Since(j.begun).Round(10*time.Millisecond), j.used().Seconds(), j.flags.parallel)
}
