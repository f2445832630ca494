package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
)

// reportFlags are the flags of `report`.
type reportFlags struct {
	replayFlags
	page  string
	tries int
}

func newReport(targets target.Set) *cobra.Command {
	f := &reportFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "report FOLDER | SCENARIO-FILE | SEED",
		Short: "write a run as a page, with a picture and the state at each step; or a campaign",
		Long: `Report writes report.html, one file that needs no network: what broke and why,
the story, a picture with lanes for clients, routers and servers, and the state of the
cluster at every step that matters. If the run was shrunk, the smallest scenario comes first; the
nearest run that passes stands beside a failing one.

Of the folder of run --memory or merge it writes what the campaign did: verdicts and signatures,
what was reached and whether it held, saturation, the slowest seeds, and how balanced data were.
The timeline of a real cluster (timeline.jsonl) becomes throughput and latency, with faults.

The page of a folder goes into the folder, and replaces an older page of this command there.`,
		Example: `  shardproof report out/lost-write-4711
  shardproof report --page run.html 4711`,
		Args: exactlyOne("the folder of a saved run, a scenario file or a seed"),
		RunE: func(c *cobra.Command, args []string) error { return f.write(c, args[0]) },
	}
	f.seedFlags(c)
	c.Flags().StringVar(&f.page, "page", "",
		"the file to write (default: report.html in the folder of the run)")
	c.Flags().IntVar(&f.tries, "neighbours", manyNeighbours,
		"how many similar scenarios are tried to find one that passes; 0 for none")
	f.seeds, f.parallel, f.again = 1, 1, 0
	return c
}

func (f *reportFlags) write(c *cobra.Command, what string) error {
	switch {
	case harness.IsAttack(what):
		return f.writeRecorded(c, what)
	case harness.HoldsCampaign(what):
		return f.overview(c, what)
	}
	s, saved, err := f.load(what)
	if err != nil {
		return usageError(err)
	}
	file := f.page
	switch {
	case file == "" && saved == "":
		return usageError(errors.New("--page says where the page goes: this is no saved run"))
	case file == "":
		file = filepath.Join(saved, rundir.ReportFile)
	}
	if err := mayReplace(file); err != nil {
		return usageError(err)
	}
	r, err := runner.Run(s, runner.Options{Targets: f.targets, Events: true, Places: true})
	if err != nil {
		return usageError(err)
	}
	code := codeOf(r)
	if saved != "" {
		if err := compareWithSaved(c, saved, r); err != nil {
			return err
		}
	}
	page, err := f.pageOf(c, r, what, saved)
	if err := put(c, file, page, err); err != nil {
		return err
	}
	one := caseOf(r, saved, []string{f.repeatOn("replay", what)})
	one.Page = file
	results.Of(c.Context()).Add(one)
	return exitWith(code)
}

// put writes the page that was made, and says so.
func put(c *cobra.Command, file string, page []byte, err error) error {
	if err == nil {
		err = rundir.Replace(file, page)
	}
	if err != nil {
		return &exitError{exitHarness, fmt.Errorf("the page could not be written: %w", err)}
	}
	fmt.Fprintf(c.OutOrStdout(), "%s  %d KiB\n", file, (len(page)+1023)/1024)
	return nil
}

// overview writes the page of a campaign.
func (f *reportFlags) overview(c *cobra.Command, folder string) error {
	if err := withoutEffect(c, "on the page of a campaign", "neighbours", "profile", "target",
		"protocol", "set", "failpoint"); err != nil {
		return usageError(err)
	}
	file := cmp.Or(f.page, filepath.Join(folder, rundir.ReportFile))
	if err := mayReplace(file); err != nil {
		return usageError(err)
	}
	page, of, err := harness.Overview(folder, f.targets[0], versionText())
	if err := put(c, file, page, err); err != nil {
		return err
	}
	for _, e := range of.Signatures {
		results.Of(c.Context()).Enter(e)
	}
	if of.Record == nil {
		return nil
	}
	t := of.Record.Tally
	countRuns(c, t.Sum.Counters, t.Violations, t.Undecided)
	if t.Violations > 0 {
		return exitWith(exitBroke)
	}
	return nil
}

// writeRecorded writes the page of an attack on real servers by what the folder has of it.
func (f *reportFlags) writeRecorded(c *cobra.Command, folder string) error {
	file := f.page
	if file == "" {
		file = filepath.Join(folder, rundir.ReportFile)
	}
	if err := mayReplace(file); err != nil {
		return usageError(err)
	}
	r, err := harness.Recorded(folder)
	if err != nil {
		return usageError(err)
	}
	page, err := harness.Report(harness.Page{Run: r, Build: versionText(), Commands: []string{
		commandLine("check", folder), filepath.Join(folder, "again.sh"),
	}})
	if err := put(c, file, page, err); err != nil {
		return err
	}
	if harness.HoldsCampaign(folder) {
		if err := f.overTime(c, folder); err != nil {
			return err
		}
	}
	return exitWith(codeOf(r))
}

// timelinePage is the page of an attack's timeline, in the attack's folder.
const timelinePage = "timeline.html"

// overTime writes what an attack's clients saw over time.
func (f *reportFlags) overTime(c *cobra.Command, folder string) error {
	file := filepath.Join(folder, timelinePage)
	if err := mayReplace(file); err != nil {
		return usageError(err)
	}
	page, _, err := harness.Overview(folder, f.targets[0], versionText())
	return put(c, file, page, err)
}

// pageOf is the page of a run, with what is known of it besides.
func (f *reportFlags) pageOf(
	c *cobra.Command, r *runner.Result, what, saved string,
) ([]byte, error) {
	p := harness.Page{Run: r, Build: versionText(), Commands: []string{
		f.repeatOn("replay", what), f.repeatOn("step", what),
	}}
	if r.Passed() {
		return harness.Report(p)
	}
	p.Commands = append(p.Commands, f.repeatOn("step", what)+" --at here --show all",
		f.repeatOn("shrink", what))
	if f.tries > 0 {
		p.Nearest = explain.FindNearestPassing(r, nil, f.tries, interrupted(c))
	}
	var err error
	if p.Smallest, p.Annotated, err = f.smallest(saved, r); err != nil {
		return nil, err
	}
	return harness.Report(p)
}

// smallest is what `shrink` has made of a saved run, where it has.
func (f *reportFlags) smallest(
	saved string, from *runner.Result,
) (*runner.Result, string, error) {
	if saved == "" {
		return nil, "", nil
	}
	file := filepath.Join(filepath.Clean(saved)+"-min", minFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	s, err := runner.Parse(f.targets, file, string(text))
	if err != nil {
		return nil, "", err
	}
	r, err := runner.Run(s, runner.Options{Targets: f.targets, Events: true, Places: true})
	if err != nil || r.Signature() != from.Signature() {
		return nil, "", err
	}
	return r, string(text), nil
}

// mayReplace refuses to write over a file that is no page of a report.
func mayReplace(file string) error {
	old, err := os.ReadFile(file)
	if err != nil || bytes.Contains(old, []byte(harness.PageGenerator)) {
		return nil
	}
	return &rundir.ExistsError{Path: file}
}
