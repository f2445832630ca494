package cli

import (
	"bytes"
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
		Short: "write a run as a page: the failure, a picture of the run, and the state at each step",
		Long: `Report writes report.html, one file that needs no network: what broke and why,
the story, a picture with lanes for clients, routers and servers, and the state of the
cluster at every step that matters. If the run was shrunk, the smallest scenario comes first; the
nearest run that passes stands beside a failing one.

The page of a folder goes into the folder, and replaces an older page of this command there.`,
		Example: "  shardproof report out/lost-write-4711\n  shardproof report --page run.html 4711",
		Args:    exactlyOne("the folder of a saved run, a scenario file or a seed"),
		RunE:    func(c *cobra.Command, args []string) error { return f.write(c, args[0]) },
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
	page, err := f.pageOf(r, what, saved)
	if err == nil {
		err = rundir.Replace(file, page)
	}
	if err != nil {
		return &exitError{exitHarness, fmt.Errorf("the page could not be written: %w", err)}
	}
	one := caseOf(r, saved, []string{commandLine("replay", what)})
	one.Page = file
	results.Of(c.Context()).Add(one)
	fmt.Fprintf(c.OutOrStdout(), "%s  %d KiB\n", file, (len(page)+1023)/1024)
	return exitWith(code)
}

// pageOf is the page of a run, with what is known of it besides.
func (f *reportFlags) pageOf(r *runner.Result, what, saved string) ([]byte, error) {
	p := harness.Page{Run: r, Build: versionText(), Commands: []string{
		commandLine("replay", what), commandLine("step", what),
	}}
	if r.Passed() {
		return harness.Report(p)
	}
	p.Commands = append(p.Commands, commandLine("step", what, "--at here --show all"),
		commandLine("shrink", what))
	if f.tries > 0 {
		p.Nearest = explain.FindNearestPassing(r, nil, f.tries)
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
