package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/ci/mutation/mutants"
	"github.com/shardproof/shardproof/ci/mutation/report"
	"github.com/shardproof/shardproof/ci/mutation/schemata"
	"github.com/shardproof/shardproof/ci/mutation/trial"
)

const (
	toy  = "ci/mutation/testdata/toy"
	bank = toy + "/bank/bank.go:"
)

// ends are the mutants of the toy that are tried, and how each ends. They are a few of each kind,
// for tests must be fast.
var ends = map[string]string{
	// That the amount is not there is found out by check, too; only what it says differs.
	"Bank.Move:guard:1": "killed tests of " + toy + "/bank TestMove TestMove/" +
		"refuses_what_is_not_there",
	"Bank.Move:refusal:1":    "killed refusals",
	"Bank.Move:wait:1":       "killed durability",
	"Bank.Move:drop-step:4":  "killed sum",
	"Bank.Move:assign:1":     "killed sum",
	"Bank.Move:swap-steps:1": "passed",
	"Bank.Move:field:1":      "killed log",
	"Bank.Move:field:2":      "passed",
	"Bank.Move:return:2":     "killed moves",
	"Bank.unlock:exchange:1": "passed",
	"Bank.Sum:boundary:1":    "panicked",
	"Bank.Sum:loop:1":        "killed log",
	"Bank.Late:assign:1":     "hung",
	"Bank.Large:any-all:1":   "",
	"Bank.unlock:older:1":    "passed",
	"Bank.Unused:boundary:1": "",
}

// campaign builds the toy with its mutants, with a state in a folder of its own.
func campaign(t *testing.T) (*trial.Campaign, *mutants.Set, []*mutants.Mutant) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	set, err := mutants.Make(mutants.Scope{Root: root, Patterns: []string{"./" + toy + "/bank"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, err := schemata.Build(root, dir, "./"+toy+"/cmd", set.Copies())
	if err != nil {
		t.Fatal(err)
	}
	tests, err := schemata.Tests(root, dir, []string{toy + "/bank"}, set.Copies())
	if err != nil {
		t.Fatal(err)
	}
	state, err := trial.Open(filepath.Join(dir, "state", "state.json"), "toy")
	if err != nil {
		t.Fatal(err)
	}
	sample := slices.DeleteFunc(trial.Sample(set.Mutants, 1, 0), func(m *mutants.Mutant) bool {
		_, wanted := ends[strings.TrimPrefix(m.ID(), bank)]
		return !wanted
	})
	return &trial.Campaign{
		Program: program, Tests: tests, Root: root, State: state,
		CPU: time.Minute, Memory: 1 << 30, Shortest: time.Second, Workers: 2,
		Plan: []trial.Unit{
			{Stage: "first", One: true, Args: []string{"1", "{out}"}},
			{Stage: "second", Args: []string{"3", "{out}"}},
			{Stage: "tests", One: true, Args: []string{"test", toy + "/bank", "-test.failfast"}},
		},
	}, set, sample
}

// TestToy makes the mutants of a toy, builds them into one program, tries some, and goes on with
// the same state.
func TestToy(t *testing.T) {
	c, set, sample := campaign(t)
	tried := 0
	c.Tell = func(m *mutants.Mutant, r trial.Result) {
		tried++
		end := strings.TrimSpace(r.End + " " + strings.Join(r.By, " "))
		if want := ends[strings.TrimPrefix(m.ID(), bank)]; end != want {
			t.Errorf("%s: %q, and %q is expected\n%s\n%s", m.ID(), end, want, m.Diff(), r.Said)
		}
	}
	ctx := context.Background()
	if err := c.Baseline(ctx, func(u trial.Unit, b trial.Baseline) {
		if b.Failed != "" {
			t.Errorf("without a mutant %s fails: %s", u, b.Failed)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(ctx, sample); err != nil {
		t.Fatal(err)
	}
	first := tried
	file := filepath.Join(filepath.Dir(c.Program), "state", "state.json")
	state, err := trial.Open(file, "toy")
	if err != nil {
		t.Fatal(err)
	}
	c.State = state
	if err := c.Run(ctx, sample); err != nil {
		t.Fatal(err)
	}
	if first == 0 || tried != first {
		t.Errorf("%d trials with a new state, %d more with the same", first, tried-first)
	}
	if _, err := trial.Open(file, "other"); err == nil {
		t.Error("the state of another build is taken")
	}
	reported(t, c, set, sample)
}

// reported holds that the report puts every mutant of the sample into one column.
func reported(t *testing.T, c *trial.Campaign, set *mutants.Set, sample []*mutants.Mutant) {
	t.Helper()
	judged := map[string]trial.Equivalent{
		bank + "Bank.Move:swap-steps:1": {ID: "lock and take", Why: "nothing waits in between"},
	}
	var page strings.Builder
	(&report.Campaign{
		Command: "the command", Made: set.Mutants, Sample: sample, Plan: c.Plan, State: c.State,
		Reached: c.Reached, Equivalents: judged,
	}).Write(&page)
	for _, want := range []string{
		"| all |", "## Survived: 3", "## Never executed: 2", "lock and take", "| refusals | 1 |", "| tests of " + toy + "/bank | 1 |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, page.String())
		}
	}
}

// TestSampleGrows holds that a larger sample of the same seed holds the smaller one, and that seeds
// differ.
func TestSampleGrows(t *testing.T) {
	var all []*mutants.Mutant
	for i := range 100 {
		all = append(all, &mutants.Mutant{File: "f", Ordinal: i})
	}
	small, large := trial.Sample(all, 3, 10), trial.Sample(all[:90], 3, 50)
	for _, m := range small {
		if m.Ordinal < 90 && !slices.Contains(large, m) {
			t.Errorf("%s is in the small sample alone", m.ID())
		}
	}
	if slices.Equal(small, trial.Sample(all, 4, 10)) {
		t.Error("another seed draws the same sample")
	}
}

// TestJudgements holds that the judgements about equivalent mutants can be read, and that their
// lines are still there.
func TestJudgements(t *testing.T) {
	judged, err := trial.ReadEquivalents("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone(judged, "../.."); err != nil {
		t.Errorf("judge these mutants again: %v", err)
	}
	stale := map[string]trial.Equivalent{
		bank + "Bank.Move:guard:1": {Line: "if amount < 0 {", Why: "none"},
	}
	if gone(stale, "../..") == nil || trial.Stale(stale, nil) == nil {
		t.Error("a stale judgement is taken")
	}
	if _, err := trial.ReadPlan("plan.txt", "../.."); err != nil {
		t.Error(err)
	}
}

// gone is a cheap form of Stale: it says which judgements name a file that does not hold
// their line.
func gone(all map[string]trial.Equivalent, root string) error {
	var lost []error
	for id, e := range all {
		file, _, _ := strings.Cut(id, ":")
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil || !strings.Contains(string(text), e.Line) {
			lost = append(lost, fmt.Errorf("%s: the line %q is not there any more (%v)",
				id, e.Line, err))
		}
	}
	return errors.Join(lost...)
}

// Who has the report but no longer the state of a campaign can still try its survivors again.
func TestSurvivorsOfAReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "TABLE.md")
	write(t, file, "# Mutants\n\n## Survived: 2\n\n"+
		"`system/a.go:F:negate:1` system/a.go:3, number 4, 0.1 CPU s, 1 of 1 command\n\n"+
		"`system/b.go:G:wait:2` system/b.go:3, number 9, 0.1 CPU s, 1 of 1 command\n\n"+
		"## Never executed: 1\n\n`system/c.go:H:call:1` system/c.go:3, number 2, 0.1 CPU s\n")
	survived, err := trial.Survivors(file)
	want := map[string]bool{"system/a.go:F:negate:1": true, "system/b.go:G:wait:2": true}
	if err != nil || !maps.Equal(survived, want) {
		t.Errorf("survivors are %v, %v", survived, err)
	}
	write(t, file, "# Another report\n")
	if _, err := trial.Survivors(file); err == nil {
		t.Error("a report without survivors was taken for one of a campaign")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
