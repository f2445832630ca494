// Package report writes what a mutation campaign found as a page of Markdown.
//
// Promise: every mutant of the sample is in exactly one column. Refusal: timeouts, undecided runs
// and failures of the harness are never counted as killed.
package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/ci/mutation/mutants"
	"github.com/shardproof/shardproof/ci/mutation/trial"
)

// Campaign is what there is to report.
type Campaign struct {
	// Command is what makes the same report.
	Command string
	Made    []*mutants.Mutant
	Sample  []*mutants.Mutant
	// Dropped is how many mutants did not compile.
	Dropped int
	// Left are the packages and files that are left alone, with reasons.
	Left        map[string]string
	Equivalents map[string]trial.Equivalent
	Plan        []trial.Unit
	State       *trial.State
	// Reached says whether any command of the plan reaches a mutant.
	Reached func(*mutants.Mutant) bool
}

// column is where a mutant of the sample stands.
type column int

const (
	equivalent column = iota
	never
	tested
	killed
	crashed
	refused
	open
	survived
	untried
	columns
)

func (c *Campaign) column(m *mutants.Mutant) column {
	r, tried := c.State.Results[m.ID()]
	switch _, judged := c.Equivalents[m.ID()]; {
	case judged:
		return equivalent
	case !c.Reached(m):
		return never
	case !tried:
		return untried
	case r.End == trial.Killed && r.ByTests():
		return tested
	case r.End == trial.Killed:
		return killed
	case trial.Dead(r.End):
		return crashed
	case r.End == trial.Passed:
		return survived
	case r.End == trial.Harness:
		return refused
	}
	return open
}

// row adds up mutants.
type row struct {
	name string
	made int
	in   [columns]int
	cpu  []float64 // of the kills
}

func (r *row) sampled() (n int) {
	for _, of := range r.in {
		n += of
	}
	return n
}

func (r *row) String() string {
	dead := r.in[tested] + r.in[killed] + r.in[crashed]
	decided := dead + r.in[survived] + r.in[refused] + r.in[open]
	share, median := "", ""
	if decided > 0 {
		share = fmt.Sprintf("%.0f %%", 100*float64(dead)/float64(decided))
	}
	if len(r.cpu) > 0 {
		median = fmt.Sprintf("%.1f", middle(r.cpu))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %d | %d |", r.name, r.made, r.sampled())
	for _, c := range []column{equivalent, never, tested, killed, crashed, refused, open, survived} {
		fmt.Fprintf(&b, " %d |", r.in[c])
	}
	fmt.Fprintf(&b, " %s | %s |\n", share, median)
	return b.String()
}

func middle(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

const head = `| made | sampled | equivalent | never executed | killed by a test ` +
	`| by an oracle | by hang or panic | harness failed | undecided | survived ` +
	`| killed of executed | median CPU s |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`

// Write writes the page.
func (c *Campaign) Write(out io.Writer) {
	fmt.Fprintf(out, "# Mutants\n\n`%s`\n\n", c.Command)
	c.left(out)
	rule := func(m *mutants.Mutant) string { return m.Rule }
	pkg := func(m *mutants.Mutant) string { return m.Package }
	c.table(out, "rule", ruleNames(), rule)
	c.table(out, "package", packageNames(c.Made), pkg)
	c.killers(out)
	c.list(out, "Survived", survived)
	c.list(out, "The harness failed, with an exit code of its own", refused)
	c.list(out, "Undecided or too slow", open)
	c.list(out, "Never executed", never)
	c.judged(out)
}

// left says what is not mutated.
func (c *Campaign) left(out io.Writer) {
	fmt.Fprintf(out, "%d mutants were made and compile, %d did not compile. Left alone:\n\n",
		len(c.Made), c.Dropped)
	var names []string
	for name := range c.Left {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(out, "- `%s`: %s\n", name, c.Left[name])
	}
}

func ruleNames() (all []string) {
	for _, r := range mutants.Rules {
		all = append(all, r.Name)
	}
	return all
}

func packageNames(made []*mutants.Mutant) (all []string) {
	for _, m := range made {
		all = append(all, m.Package)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// table has a row for every name.
func (c *Campaign) table(
	out io.Writer, title string, names []string, of func(*mutants.Mutant) string,
) {
	rows, total := map[string]*row{}, &row{name: "all"}
	for _, name := range names {
		rows[name] = &row{name: name}
	}
	for _, m := range c.Made {
		rows[of(m)].made++
		total.made++
	}
	for _, m := range c.Sample {
		at := c.column(m)
		for _, r := range []*row{rows[of(m)], total} {
			r.in[at]++
			if at == tested || at == killed || at == crashed {
				r.cpu = append(r.cpu, c.State.Results[m.ID()].CPU)
			}
		}
	}
	fmt.Fprintf(out, "\n## By %s\n\n| %s %s", title, title, head)
	for _, name := range names {
		fmt.Fprint(out, rows[name])
	}
	fmt.Fprint(out, total)
	if n := total.in[untried]; n > 0 {
		fmt.Fprintf(out, "\n%d of the sample are not tried yet.\n", n)
	}
}

// killers says which oracle or package's tests, and which stage, killed how many. A kill counts for
// the first oracle that its run names.
func (c *Campaign) killers(out io.Writer) {
	by, stages := map[string]*row{}, map[string]*row{}
	count := func(rows map[string]*row, name string, cpu float64) {
		if rows[name] == nil {
			rows[name] = &row{name: name}
		}
		rows[name].made++
		rows[name].cpu = append(rows[name].cpu, cpu)
	}
	for _, m := range c.Sample {
		if r := c.State.Results[m.ID()]; trial.Dead(r.End) {
			name := r.End
			if len(r.By) > 0 {
				name = r.By[0]
			}
			count(by, name, r.CPU)
			count(stages, r.Stage, r.CPU)
		}
	}
	ranking(out, "Killed by", "oracle or tests", by)
	ranking(out, "Killed in", "stage", stages)
}

func ranking(out io.Writer, title, what string, rows map[string]*row) {
	var all []*row
	for _, r := range rows {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *row) int {
		return cmp.Or(b.made-a.made, strings.Compare(a.name, b.name))
	})
	fmt.Fprintf(out, "\n## %s\n\n| %s | mutants | median CPU s |\n", title, what)
	fmt.Fprint(out, "| --- | ---: | ---: |\n")
	for _, r := range all {
		fmt.Fprintf(out, "| %s | %d | %.1f |\n", r.name, r.made, middle(r.cpu))
	}
}

// list names the mutants of one column with their changes.
func (c *Campaign) list(out io.Writer, title string, which column) {
	var all []*mutants.Mutant
	for _, m := range c.Sample {
		if c.column(m) == which {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b *mutants.Mutant) int { return a.Number - b.Number })
	fmt.Fprintf(out, "\n## %s: %d\n", title, len(all))
	for _, m := range all {
		r := c.State.Results[m.ID()]
		fmt.Fprintf(out, "\n`%s` %s:%d, number %d", m.ID(), m.File, m.Line, m.Number)
		if which == open || which == refused {
			fmt.Fprintf(out, ": %s in `%s`", r.End, r.Unit)
		}
		if which != never {
			fmt.Fprintf(out, ", %.1f CPU s, %d of %d commands", r.CPU, r.Next, len(c.Plan))
		}
		fmt.Fprintf(out, "\n\n```diff\n%s\n```\n", m.Diff())
	}
}

// judged lists the equivalents of the sample with their reasons.
func (c *Campaign) judged(out io.Writer) {
	title := "\n## Equivalent\n\n"
	for _, m := range c.Sample {
		if e, ok := c.Equivalents[m.ID()]; ok {
			fmt.Fprintf(out, "%s- `%s`: %s\n", title, e.ID, e.Why)
			title = ""
		}
	}
}
