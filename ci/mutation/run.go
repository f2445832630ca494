package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/shardproof/shardproof/ci/mutation/mutants"
	"github.com/shardproof/shardproof/ci/mutation/report"
	"github.com/shardproof/shardproof/ci/mutation/schemata"
	"github.com/shardproof/shardproof/ci/mutation/trial"
)

// left is what is not mutated: what is no part of the system under test, and what can only break
// the world around it.
var left = map[string]string{
	"system":              "puts clusters together in a world, and lets oracles look at them",
	"system/sim":          "the world: its mutants break the judge, not the accused",
	"system/env":          "what the system may ask of a world, and what every wait rests on",
	"system/failpoint":    "the catalog of sites, which only names them",
	"system/codec":        "makes bytes of messages, for a world to prove that nodes share nothing",
	"codec.go":            "the same, of one package",
	"system/protocoltest": "tests",
	"system/env/envtest":  "tests",
	"system/live/...":     "the real world, which no run of the simulation enters",
	"system/wire/...":     "serves drivers of real clusters, whose own test suite judges it",
	"system/pipeline":     "what aggregations of drivers do to documents; the same suite judges it",
}

// run does what the flags ask for.
func run(ctx context.Context, o options) error {
	if err := o.absolute(); err != nil {
		return err
	}
	scope := mutants.Scope{Root: o.root, Patterns: []string{"./system/..."}, Leave: left}
	set, err := mutants.Make(scope)
	if err != nil {
		return err
	}
	if o.count {
		count(set.Mutants)
		return nil
	}
	sample, err := o.drawn(set)
	if err != nil {
		return err
	}
	if o.list {
		for _, m := range sample {
			fmt.Printf("%s line %d, number %d\n%s\n\n", m.ID(), m.Line, m.Number, m.Diff())
		}
		return nil
	}
	return o.campaign(ctx, set, sample)
}

// drawn is the sample, of all mutants or of those that the flags name.
func (o *options) drawn(set *mutants.Set) ([]*mutants.Mutant, error) {
	all := slices.Clone(set.Mutants)
	if o.of != "" {
		survived, err := trial.Survivors(o.of)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(m *mutants.Mutant) bool { return !survived[m.ID()] })
	}
	all = slices.DeleteFunc(all, func(m *mutants.Mutant) bool {
		return !strings.Contains(m.ID(), o.only)
	})
	return trial.Sample(all, o.seed, o.sample), nil
}

// campaign builds, tries and reports.
func (o *options) campaign(ctx context.Context, set *mutants.Set, sample []*mutants.Mutant) error {
	judged, err := trial.ReadEquivalents(filepath.Join(o.root, "ci", "mutation", "equivalent.txt"))
	if err != nil {
		return err
	}
	if err := trial.Stale(judged, set.Mutants); err != nil {
		return fmt.Errorf("judgements in equivalent.txt are stale: %w", err)
	}
	c, err := o.open(set)
	if err != nil {
		return err
	}
	if err := c.Baseline(ctx, tellBaseline); err != nil {
		return err
	}
	done := 0
	c.Tell = func(m *mutants.Mutant, r trial.Result) {
		done++
		fmt.Fprintf(os.Stderr, "%5d  %-9s %5.1f s  %s  %s\n",
			done, r.End, r.CPU, m.ID(), strings.Join(r.By, ", "))
	}
	equivalent := func(m *mutants.Mutant) bool { return judged[m.ID()].ID != "" }
	tried := c.Run(ctx, slices.DeleteFunc(slices.Clone(sample), equivalent))
	r := &report.Campaign{
		Command: o.command(), Made: set.Mutants, Sample: sample, Dropped: set.Dropped, Left: left,
		Equivalents: judged, Plan: c.Plan, State: c.State, Reached: c.Reached,
	}
	return errors.Join(tried, o.write(r))
}

// open builds the program and opens the state of its campaign.
func (o *options) open(set *mutants.Set) (*trial.Campaign, error) {
	plan, err := trial.ReadPlan(o.plan, o.root)
	if err != nil {
		return nil, err
	}
	program, err := schemata.Build(o.root, o.out, "./cmd/shardproof", set.Copies())
	if err != nil {
		return nil, err
	}
	tests, err := schemata.Tests(o.root, o.out, trial.Packages(plan), set.Copies())
	if err != nil {
		return nil, err
	}
	build, err := trial.BuildOf(program, tests, plan)
	if err != nil {
		return nil, err
	}
	state, err := trial.Open(filepath.Join(o.out, "state.json"), build)
	return &trial.Campaign{
		Program: program, Tests: tests, Root: o.root, Plan: plan, State: state,
		CPU: o.cpu, Memory: o.memory, Workers: o.workers,
	}, err
}

func tellBaseline(u trial.Unit, b trial.Baseline) {
	what := fmt.Sprintf("%.1f CPU s", b.CPU)
	if b.Failed != "" {
		what = "NOT USED, for it fails without a mutant: " + b.Failed
	}
	fmt.Fprintf(os.Stderr, "%-8s %s: %s\n", u.Stage, u, what)
}

// write prints the report, and keeps it when it is asked for.
func (o *options) write(c *report.Campaign) error {
	var page strings.Builder
	c.Write(&page)
	fmt.Print(page.String())
	if o.report == "" {
		return nil
	}
	return os.WriteFile(o.report, []byte(page.String()), 0o644)
}

// count prints how many mutants each rule makes of each package.
func count(all []*mutants.Mutant) {
	made, packages := map[[2]string]int{}, map[string]int{}
	for _, m := range all {
		made[[2]string{m.Package, m.Rule}]++
		packages[m.Package]++
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', tabwriter.AlignRight)
	defer w.Flush()
	row := func(name string, of func(rule string) int) {
		fmt.Fprintf(w, "%s\t", name)
		sum := 0
		for _, r := range mutants.Rules {
			fmt.Fprintf(w, "%d\t", of(r.Name))
			sum += of(r.Name)
		}
		fmt.Fprintf(w, "%d\t\n", sum)
	}
	for _, r := range mutants.Rules {
		fmt.Fprintf(w, "\t%s", r.Name)
	}
	fmt.Fprint(w, "\tall\t\n")
	var names []string
	for name := range packages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row(strings.TrimPrefix(name, "system/"), func(rule string) int {
			return made[[2]string{name, rule}]
		})
	}
	row("all", func(rule string) (n int) {
		for _, name := range names {
			n += made[[2]string{name, rule}]
		}
		return n
	})
}
