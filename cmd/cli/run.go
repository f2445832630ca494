package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/cmd/cli/terminal"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// runFlags are the flags of `run`.
type runFlags struct {
	// targets are the systems that scenarios may name; of is the name of the one that seeds are
	// drawn for.
	targets   target.Set
	of        string
	seeds     int
	first     uint64
	for_      time.Duration
	profile   string
	protocol  string
	parallel  int
	keepGoing bool
	failures  int
	out       string
	table     bool
	again     int
	set       []string
	failpoint []string
	memory    string
	goOn      bool
	profiling
}

func newRun(targets target.Set) *cobra.Command {
	f := &runFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "run",
		Short: "run many seeds, each a whole cluster under faults, and check every history",
		Long: `Run generates a scenario from each seed, simulates it, and checks the history
that clients observed, every internal step, and the final state. It stops at the first failure,
saves that run in a new folder under --out, and explains it.

With --memory, failing runs are saved in that folder, and the next campaign first runs them again:
each failure signature is new, known, fixed or came back. Known failures are counted and do not
stop a campaign. A campaign that was interrupted, or stopped at a failure, resumes with --continue
and the same flags; its summary covers all parts.`,
		Example: "  shardproof run --seeds 1000\n  shardproof run --for 10m --profile contended " +
			"--keep-going\n  shardproof run --memory nightly --seeds 100000",
		Args: flagsOnly("`replay` runs the scenario of one seed or file"),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().IntVar(&f.seeds, "seeds", 1000,
		"number of seeds; 0 for as many as fit into --for, as is --for alone")
	c.Flags().Uint64Var(&f.first, "first-seed", 1, "the first seed")
	c.Flags().StringVar(&f.profile, "profile", "mixed",
		"how scenarios are generated from seeds; see: "+programName()+" list profiles")
	c.Flags().StringVar(&f.of, "target", "", "the system under test, when the program has several")
	f.protocolFlag(c)
	f.longFlags(c)
	f.collectFlags(c)
	c.Flags().StringVar(&f.out, "out", "out", "the folder for failing runs")
	c.Flags().BoolVar(&f.table, "table", false,
		"also print how often a primary failed in each state of a migration")
	c.Flags().IntVar(&f.again, "again", 3,
		"percentage of seeds that are run twice, to check that the trace hashes are equal")
	c.Flags().StringArrayVar(&f.set, "set", nil, "name=value sets a setting in every scenario")
	c.Flags().StringArrayVar(&f.failpoint, "failpoint", nil,
		"name=terms enables a failpoint, as GO_FAILPOINTS does")
	c.Flags().StringVar(&f.memory, "memory", "",
		"the folder that records failures and progress across campaigns, instead of --out")
	c.Flags().BoolVar(&f.goOn, "continue", false,
		"with --memory: resume the campaign that was interrupted")
	f.profiling.flags(c)
	return c
}

func (f *runFlags) run(c *cobra.Command) (end error) {
	if err := f.refuse(c); err != nil {
		return usageError(err)
	}
	draw, err := f.drawing()
	if err != nil {
		return usageError(err)
	}
	subject, err := f.targets.Find(f.of)
	if err != nil {
		return usageError(err)
	}
	stop, err := f.profiling.start()
	if err != nil {
		return usageError(err)
	}
	defer func() { end = unlessKept(end, "the profile", stop()) }()
	if f.memory == "" {
		if err := tryFolder(f.out); err != nil {
			return &exitError{exitHarness, err}
		}
	}
	m, err := f.remember(c.ErrOrStderr())
	if err != nil {
		return folderError(err)
	}
	if m != nil {
		m.wanted = f.count(c)
	}
	return f.campaign(c, subject.Describe(), draw, m)
}

// campaign runs what is remembered and then the seeds.
func (f *runFlags) campaign(
	c *cobra.Command, subject *target.Description, draw func(uint64) *scenario.Scenario,
	m *remembering,
) error {
	ctx, cancel := f.within(c)
	defer cancel()
	code, back, err := m.replayKept(ctx, c.OutOrStdout())
	if err != nil {
		return &exitError{exitHarness, err}
	}
	s := noSeeds()
	if !back || f.keepGoing {
		s = f.seeded(ctx, c, draw, m)
	}
	all := m.total(s)
	printSummary(c.OutOrStdout(), subject, all, s, f.parallel)
	countRuns(c, all.Sum.Counters, all.Violations, all.Undecided)
	if f.table {
		printTable(c.OutOrStdout(), all.Sum.Counters)
	}
	code = worseCode(worseCode(code, m.earlier()), verdictOf(s))
	if err := errors.Join(s.Broken, m.close(c.OutOrStdout())); err != nil {
		return &exitError{worseCode(code, exitHarness), err}
	}
	if code == exitPassed && c.Context().Err() != nil {
		code = exitInterrupted
	}
	return exitWith(code)
}

// seeded runs the seeds.
func (f *runFlags) seeded(
	ctx context.Context, c *cobra.Command, draw func(uint64) *scenario.Scenario, m *remembering,
) *campaign.Summary {
	p := terminal.NewProgress(c.ErrOrStderr())
	defer p.Clear()
	return campaign.Run(ctx, campaign.Options{
		Targets:   f.targets,
		Draw:      draw,
		First:     f.first,
		Seeds:     f.count(c),
		Workers:   f.parallel,
		KeepGoing: f.keepGoing,
		Failures:  f.failures,
		Again:     f.again,
		Progress: func(s *campaign.Summary) {
			p.Show(func() string { return progressText(s) })
		},
		Skip:     m.skips,
		Known:    m.knows,
		Finished: m.finished,
		Another: func(failure *campaign.Failure) error {
			p.Clear()
			return f.keepShape(c, failure, m)
		},
		Failed: func(failure *campaign.Failure, s *campaign.Summary) error {
			p.Clear()
			return f.reportFailure(c, failure, s, m)
		},
	})
}

// progressText is how a campaign goes.
func progressText(s *campaign.Summary) string {
	of := ""
	if s.Wanted > 0 {
		of = " of " + withCommas(uint64(s.Wanted))
	}
	return fmt.Sprintf("%s%s seeds, %d failed, %s, %s operations, %s migrations",
		withCommas(uint64(s.Runs)), of, len(s.Failures),
		terminal.Pace(s.Runs, 0, s.Wanted, s.Wall), withCommas(uint64(s.Ops)),
		withCommas(uint64(s.Committed+s.Aborted)))
}

// count is how many seeds to run; a time without a number of seeds means as many as fit.
func (f *runFlags) count(c *cobra.Command) int {
	if f.for_ > 0 && !c.Flags().Changed("seeds") {
		return 0
	}
	return f.seeds
}

// drawing makes the function that turns a seed into a scenario.
func (f *runFlags) drawing() (func(uint64) *scenario.Scenario, error) {
	switch {
	case f.seeds < 0:
		return nil, fmt.Errorf("--seeds must be 0 or more, not %d", f.seeds)
	case f.parallel < 1:
		return nil, fmt.Errorf("--parallel must be 1 or more, not %d", f.parallel)
	case f.again < 0 || f.again > 100:
		return nil, fmt.Errorf("--again must be from 0 to 100, not %d", f.again)
	case f.goOn && f.memory == "":
		return nil, errors.New(
			"--continue needs --memory, the folder of the campaign that was interrupted",
		)
	case f.seeds == 0 && f.for_ == 0:
		return nil, errors.New("--seeds 0 needs --for; otherwise the campaign would never end")
	}
	extra, err := f.settings()
	if err != nil {
		return nil, err
	}
	draw, err := f.drawer()
	if err != nil || len(extra) == 0 {
		return draw, err
	}
	return func(seed uint64) *scenario.Scenario {
		s := draw(seed)
		s.Set(extra...)
		return s
	}, nil
}

// drawer is how the scenario of a seed is drawn: as the target says, or else by the profiles of the
// sharded store.
func (f *runFlags) drawer() (func(uint64) *scenario.Scenario, error) {
	t, err := f.targets.Find(f.of)
	if err != nil {
		return nil, err
	}
	if draw := t.Describe().Draw; draw != nil {
		return draw, nil
	}
	protocol := f.protocol
	if protocol == "both" {
		protocol = ""
	} else if !slices.Contains(scenario.Protocols, protocol) {
		return nil, fmt.Errorf("--protocol is 8.0, 4.2 or both, not %q", protocol)
	}
	if f.profile == "mixed" {
		return func(seed uint64) *scenario.Scenario { return generate.MixedOf(seed, protocol) }, nil
	}
	p, err := generate.FindProfile(f.profile)
	if err != nil {
		return nil, err
	}
	p.Protocol = protocol
	return func(seed uint64) *scenario.Scenario { return generate.Draw(seed, p) }, nil
}

// settings gathers what the command line and the environment set in every scenario.
func (f *runFlags) settings() ([]scenario.Setting, error) {
	var all []scenario.Setting
	for _, text := range f.set {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--set %s has no =; write --set name=value", text)
		}
		all = append(all, scenario.Setting{Name: name, Value: value})
	}
	points, err := runner.FailpointSettings(
		strings.Join(append(f.failpoint, os.Getenv("GO_FAILPOINTS")), ";"),
	)
	if err != nil {
		return nil, err
	}
	all = append(all, points...)
	t, err := f.targets.Find(f.of)
	if err != nil {
		return nil, err
	}
	return all, runner.CheckSettings(t, all)
}

// verdictOf is the campaign's exit code.
func verdictOf(s *campaign.Summary) int {
	code := exitPassed
	for i := range s.Failures {
		code = worseCode(code, exitCode(&s.Failures[i]))
	}
	if len(s.Known) > 0 {
		code = worseCode(code, exitBroke)
	}
	return code
}

// reportFailure keeps and explains a failure as soon as it is there, so that nothing is lost when
// the campaign is killed. The error says why it could not be kept.
func (f *runFlags) reportFailure(
	c *cobra.Command, failure *campaign.Failure, s *campaign.Summary, m *remembering,
) error {
	out := c.OutOrStdout()
	switch {
	case failure.Err != nil:
		fmt.Fprintf(out, "HARNESS FAILED  seed %d: %v\n\n", failure.Seed, failure.Err)
	case failure.Diverged != "":
		fmt.Fprintf(out,
			"DIVERGED  seed %d: the trace hash was %s, and %s when its scenario was replayed\n  "+
				"Replay    %s\n\n", failure.Seed,
			failure.Result.HashText(), failure.Diverged, f.replayCommand(failure.Seed))
	case len(s.Failures) <= explainedMost || m.wants(failure.Result.Kind()):
		return f.save(c, failure, s, m)
	default:
		fmt.Fprintf(out, "%s  seed %d   Replay  %s\n",
			failure.Result.Signature(), failure.Seed, f.replayCommand(failure.Seed))
		noteFailure(c, failure.Result, "", f.replayCommand(failure.Seed))
		_, err := m.failed(failure, "")
		return err
	}
	return nil
}

// explainedMost is how many failures are explained; the others are named.
const explainedMost = 3

// save runs the seed again with everything recorded, keeps it, and tells the story.
func (f *runFlags) save(
	c *cobra.Command, failure *campaign.Failure, s *campaign.Summary, m *remembering,
) error {
	name := fmt.Sprintf("%s-%d", failure.Result.Signature(), failure.Seed)
	r, name, err := f.saveNew(failure.Result.Scenario, name)
	folder := filepath.Join(cmp.Or(f.memory, f.out), name)
	if r == nil {
		return err
	}
	w := explain.Where{
		Run:    fmt.Sprintf("run %s", withCommas(uint64(s.Runs))),
		Folder: folder,
		Replay: []string{commandLine("replay", folder), f.replayCommand(failure.Seed)},
		Step:   commandLine("step", folder),
		Shrink: []string{commandLine("shrink", folder)},
		Look: []string{
			filepath.Join(folder, rundir.StoryFile), filepath.Join(folder, rundir.ScenarioFile),
		},
	}
	if err != nil {
		err = fmt.Errorf("the failing run could not be saved: %w", err)
		w.Folder, w.Replay, w.Step, w.Shrink, w.Look = "", w.Replay[1:], "", nil, nil
	} else {
		if w.Known, err = m.failed(failure, name); err == nil {
			err = m.shaped(failure, name)
		}
	}
	tellFailure(c, r, w)
	return err
}

// sameName is how many runs of one name are kept: a seed that fails again with the same signature
// on another path, as it does while somebody edits the store, is another failure.
const sameName = 100

// saveNew runs a scenario and keeps it under a name that is free, or that the same run has already.
func (f *runFlags) saveNew(s *scenario.Scenario, name string) (*runner.Result, string, error) {
	free := name
	for n := 2; ; n++ {
		r, err := harness.RunAndSave(s, runner.Options{Targets: f.targets},
			filepath.Join(cmp.Or(f.memory, f.out), free), thisEnvironment())
		if there := (*rundir.ExistsError)(nil); !errors.As(err, &there) || n > sameName {
			return r, free, err
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

func (f *runFlags) replayCommand(seed uint64) string {
	return f.repeat("replay", fmt.Sprintf("--profile %s %d", f.profile, seed))
}
