package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// replayFlags are the flags of `replay`.
type replayFlags struct {
	runFlags
	trace    string
	from, to uint64
	scenario string
	curve    string
	explain  bool
}

func newReplay(targets target.Set) *cobra.Command {
	f := &replayFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "replay SEED | SCENARIO-FILE | FOLDER",
		Short: "run one scenario again and compare it with its recording",
		Long: `Replay runs the scenario of a seed, a file or a saved run. For a saved run it
also compares the trace hash with the recorded one; if they differ, it names the first event that
differs and exits with code 3.`,
		Example: `  shardproof replay --profile contended 4711
  shardproof replay out/lost-write-4711
  shardproof replay --explain out/lost-write-4711
  shardproof replay --trace trace.txt scenario.txt
  shardproof replay --failpoint 'donor.persistDecision.before=1*return("crash")' scenario.txt`,
		Args: exactlyOne("a seed, a scenario file or the folder of a saved run"),
		RunE: func(c *cobra.Command, args []string) error { return f.replay(c, args[0]) },
	}
	f.seedFlags(c)
	c.Flags().StringVar(&f.trace, "trace", "", "write every step as a line of text to a new file")
	c.Flags().Uint64Var(&f.from, "from", 0, "with --trace: the first step")
	c.Flags().Uint64Var(&f.to, "to", 0, "with --trace: the last step; 0 for all")
	c.Flags().StringVar(&f.scenario, "write-scenario", "",
		"write the scenario, including all randomly injected faults, to a new file")
	c.Flags().StringVar(&f.curve, "curve", "",
		"write the distribution of data over the shards, over time, to a new CSV file")
	c.Flags().BoolVar(&f.explain, "explain", false,
		"for a failing run: find the most similar scenario that passes, and show where the two "+
			"runs diverge")
	c.Flags().StringVar(&f.out, "out", "", "save the run in a new folder of that name")
	f.seeds, f.parallel, f.again = 1, 1, 0
	return c
}

func (f *replayFlags) replay(c *cobra.Command, what string) (end error) {
	s, saved, err := f.load(what)
	if err == nil {
		err = f.refuseReplay(c, what)
	}
	if err != nil {
		return usageError(err)
	}
	o := runner.Options{
		Targets: f.targets, Events: true, Places: true, Curve: f.curve != "",
	}
	o.Window.From, o.Window.To = f.from, f.to
	if f.trace != "" {
		file, err := createNew(f.trace)
		if err != nil {
			return usageError(err)
		}
		traced := &resultWriter{to: file}
		o.Trace = traced
		defer func() {
			end = unlessKept(end, "the trace "+f.trace, errors.Join(traced.err, file.Close()))
		}()
	}
	r, err := harness.RunAndSave(s, o, f.out, thisEnvironment())
	if r == nil {
		return usageError(err)
	}
	code := codeOf(r)
	if err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "%s: the run was not saved: %v\n", programName(), err)
		code = worseCode(code, exitHarness)
	}
	if err := errors.Join(
		writeNew(f.scenario, r.Plan().String()), writeNew(f.curve, runner.CurveText(r.Curve)),
	); err != nil {
		return usageError(err)
	}
	out := c.OutOrStdout()
	if r.Passed() {
		fmt.Fprintf(out, "PASS  seed %d   %s   %s steps   trace hash %s%s\n",
			s.Seed, s.Name, withCommas(r.Steps), r.HashText(), anomaliesShown(r))
		noteFailure(c, r, saved, f.repeatOn("replay", what))
		if f.explain {
			fmt.Fprintln(out, "  Passing   there is no failure to explain")
		}
	} else {
		w := f.where(c, r, what)
		fmt.Fprint(out, explain.Report(r, w))
		one := caseOf(r, saved, w.Replay)
		one.Text = explain.Report(r, w)
		results.Of(c.Context()).Add(one)
		fmt.Fprintf(out, "  Trace     %s after %s steps\n", r.HashText(), withCommas(r.Steps))
	}
	for _, id := range r.IdleFaults() {
		fmt.Fprintf(out, "  Fault     %d never took effect: what it waits for did not come before "+
			"the faults ended\n", id)
	}
	if saved != "" {
		if err := compareWithSaved(c, saved, r); err != nil {
			return brokeOr(code, err)
		}
	}
	return exitWith(code)
}

// brokeOr is the error with the code of a broken promise, if there is one: a record that cannot be
// read does not hide it. A run that is another one than the recorded is told as such.
func brokeOr(code int, err error) error {
	if end := endOf(err); code == exitBroke && end.code != exitDiverged {
		return &exitError{code, end.err}
	}
	return err
}

// refuseReplay refuses flags that would be ignored.
func (f *replayFlags) refuseReplay(c *cobra.Command, what string) error {
	var err error
	if _, no := os.Stat(what); no == nil {
		err = withoutEffect(c, "on a scenario that is in a file, which says so itself",
			"profile", "protocol", "target")
	}
	if f.trace == "" {
		err = cmp.Or(err, withoutEffect(c, "without --trace", "from", "to"))
	}
	if f.to > 0 && f.to < f.from {
		err = cmp.Or(err, fmt.Errorf("--to %d is before --from %d", f.to, f.from))
	}
	return err
}

// manyNeighbours is how many scenarios --explain tries.
const manyNeighbours = 200

// interrupted says whether somebody has asked the command to end.
func interrupted(c *cobra.Command) func() bool {
	return func() bool { return c.Context().Err() != nil }
}

// where is how a reader gets at a failing run.
func (f *replayFlags) where(c *cobra.Command, r *runner.Result, what string) explain.Where {
	w := explain.Where{
		Folder: what,
		Replay: []string{f.repeatOn("replay", what)},
		Step:   f.repeatOn("step", what),
	}
	if f.explain {
		w.Passing = []string{"none of the most similar scenarios passes"}
		stop := interrupted(c)
		if n := explain.FindNearestPassing(r, nil, manyNeighbours, stop); n != nil {
			w.Passing = n.Lines()
		} else if stop() {
			w.Passing = []string{"the search for a scenario that passes was interrupted"}
		}
	}
	return w
}

// anomaliesShown names what the run has shown of the weaknesses of its protocol.
func anomaliesShown(r *runner.Result) string {
	if len(r.Weaknesses) == 0 {
		return ""
	}
	return "   shows " + strings.Join(r.Weaknesses,
		", ") + ", a known anomaly of this protocol version"
}

// writeNew makes a new file; a path that is empty was not asked for.
func writeNew(path, text string) error {
	if path == "" {
		return nil
	}
	file, err := createNew(path)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// load finds out what is to be replayed. Saved is the folder of a saved run, if it is one.
func (f *replayFlags) load(what string) (s *scenario.Scenario, saved string, err error) {
	info, err := os.Stat(what)
	switch {
	case err == nil && info.IsDir():
		s, err = f.read(filepath.Join(what, rundir.ScenarioFile))
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not a saved run: it holds no %s", what, rundir.ScenarioFile)
		}
		return s, what, err
	case err == nil:
		s, err = f.read(what)
		return s, "", err
	}
	seed, err := strconv.ParseUint(what, 10, 64)
	if err != nil {
		return nil, "", fmt.Errorf(
			"%s is neither a seed (a number from 0) nor an existing file or folder", what,
		)
	}
	draw, err := f.drawing()
	if err != nil {
		return nil, "", err
	}
	return draw(seed), "", nil
}

func (f *replayFlags) read(file string) (*scenario.Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if harness.IsAttack(file) {
		return nil, fmt.Errorf("%s is the schedule of an attack on real servers, which cannot be "+
			"replayed: `shardproof attack --schedule %s` repeats it", file, file)
	}
	s, err := runner.Parse(f.targets, file, string(text))
	if err != nil {
		return nil, err
	}
	extra, err := f.settings()
	s.Set(extra...)
	return s, err
}

// compareWithSaved holds a run against the record of a saved one.
func compareWithSaved(c *cobra.Command, folder string, r *runner.Result) error {
	d, err := explain.Compare(folder, r)
	switch {
	case err != nil:
		return usageError(err)
	case d == nil:
		fmt.Fprintf(c.OutOrStdout(), "  Same      identical to the recording in %s\n", folder)
		return nil
	}
	return tellDivergence(c, d)
}

// tellDivergence says that a run is not the recorded one. Of another build nothing else can be
// expected; what the run shows here is its result.
func tellDivergence(c *cobra.Command, d *explain.Divergence) error {
	if d.OtherBuild(programHash()) {
		fmt.Fprintf(c.OutOrStdout(), "  Recorded  by another build (%s); %s\n",
			cmp.Or(d.RecordedIn.Commit, d.RecordedIn.Build), d)
		return nil
	}
	fmt.Fprintf(c.OutOrStdout(), "DIVERGED  %s\n", d)
	return exitWith(exitDiverged)
}
