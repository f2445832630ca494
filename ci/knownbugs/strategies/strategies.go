// Package strategies is the table of how long each strategy takes to find each known bug, as a
// Markdown file that reads back, so that it can be filled in pieces.
//
// Promise: Read of what Write has written gives an equal table. A file that is no such table is an
// error, and is left as it is.
//
// Refusal: it measures nothing; ci/gate fills in the rows.
package strategies

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/ci/knownbugs/markdown"
)

// Cell is what one strategy takes to find one bug: the zero Cell is that it does not.
type Cell struct {
	Runs int
	CPU  float64 // seconds, those of writing the failure down included
}

// Found says whether the bug is found at all.
func (c Cell) Found() bool { return c.Runs > 0 }

const missed = "missed"

// String is "runs / seconds", or "missed".
func (c Cell) String() string {
	if !c.Found() {
		return missed
	}
	return fmt.Sprintf("%d / %.1f", c.Runs, c.CPU)
}

func parse(text string) (c Cell, err error) {
	if text != missed {
		_, err = fmt.Sscanf(text, "%d / %f", &c.Runs, &c.CPU)
	}
	return c, err
}

func slower(a, b Cell) int {
	if a.Found() != b.Found() {
		if a.Found() {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.CPU, b.CPU)
}

// Median is the one in the middle by time, those that were missed at the end.
func Median(of []Cell) Cell {
	if len(of) == 0 {
		return Cell{}
	}
	return slices.SortedFunc(slices.Values(of), slower)[(len(of)-1)/2]
}

// Table is the cells by bug and strategy.
type Table struct {
	strategies []string
	budget     float64
	rows       map[string]map[string]Cell
}

// Read reads the table of a file, an empty one when there is no file. Budget is how many seconds of
// CPU a strategy has.
func Read(file string, strategies []string, budget float64) (*Table, error) {
	t := &Table{strategies: strategies, budget: budget, rows: make(map[string]map[string]Cell)}
	var columns []string
	err := markdown.Rows(file, func(fields []string) error {
		switch {
		case columns == nil:
			columns = fields
		case !strings.HasPrefix(fields[0], "**"):
			return t.read(columns, fields)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Table) read(columns, fields []string) error {
	for i, f := range fields {
		if i == 0 || i >= len(columns) || !slices.Contains(t.strategies, columns[i]) || f == "" {
			continue
		}
		c, err := parse(f)
		if err != nil {
			return fmt.Errorf("%q is neither %s nor runs / seconds", f, missed)
		}
		t.Set(fields[0], columns[i], c)
	}
	return nil
}

// Has says whether the cell was measured.
func (t *Table) Has(bug, strategy string) bool {
	_, ok := t.rows[bug][strategy]
	return ok
}

// Found says whether any strategy finds the bug, of those that were measured.
func (t *Table) Found(bug string) bool { return t.best(bug).Found() }

// Set puts a cell in.
func (t *Table) Set(bug, strategy string, c Cell) {
	if t.rows[bug] == nil {
		t.rows[bug] = make(map[string]Cell)
	}
	t.rows[bug][strategy] = c
}

// Write puts the table in place of the file.
func (t *Table) Write(file string) error { return os.WriteFile(file, []byte(t.String()), 0o644) }

// String is the file: a row for each bug, by name, and the median and the misses of each strategy.
func (t *Table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"# What each strategy takes to find each known bug\n\nRuns and CPU seconds to the first "+
			"failure, median of three starts with %g CPU seconds each. A bug that all would miss "+
			"has ten\ntimes that, until one finds it. `go run ./ci/gate -strategies` measures "+
			"what is missing, with `-bug NAME` that\nbug again.\n\n", t.budget)
	fmt.Fprintf(&b, "| known bug | %s | best |\n|%s\n",
		strings.Join(t.strategies, " | "), strings.Repeat(" --- |", len(t.strategies)+2))
	var bests []Cell
	var unfound []string
	for _, bug := range t.bugs() {
		best := t.best(bug)
		if bests = append(bests, best); !best.Found() && len(t.rows[bug]) == len(t.strategies) {
			unfound = append(unfound, bug)
		}
		fmt.Fprintf(&b, "| %s |", bug)
		for _, s := range t.strategies {
			fmt.Fprintf(&b, " %s |", t.text(bug, s))
		}
		fmt.Fprintf(&b, " %s |\n", best)
	}
	t.sums(&b, bests)
	if len(unfound) > 0 {
		fmt.Fprintf(&b, "\nMissed by all: %s.\n", strings.Join(unfound, ", "))
	}
	return b.String()
}

func (t *Table) bugs() (names []string) {
	for name := range t.rows {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t *Table) text(bug, strategy string) string {
	if c, ok := t.rows[bug][strategy]; ok {
		return c.String()
	}
	return ""
}

// best is the quickest of a bug's cells.
func (t *Table) best(bug string) (best Cell) {
	for _, s := range t.strategies {
		if c := t.rows[bug][s]; slower(c, best) < 0 {
			best = c
		}
	}
	return best
}

// sums are the rows below the bugs.
func (t *Table) sums(b *strings.Builder, bests []Cell) {
	columns := make([][]Cell, 0, len(t.strategies)+1)
	for _, s := range t.strategies {
		var of []Cell
		for _, row := range t.rows {
			if c, ok := row[s]; ok {
				of = append(of, c)
			}
		}
		columns = append(columns, of)
	}
	columns = append(columns, bests)
	fmt.Fprintf(b, "| **median** |")
	for _, of := range columns {
		fmt.Fprintf(b, " %s |", Median(of))
	}
	fmt.Fprintf(b, "\n| **found** |")
	for _, of := range columns {
		found := 0
		for _, c := range of {
			if c.Found() {
				found++
			}
		}
		fmt.Fprintf(b, " %d of %d |", found, len(of))
	}
	b.WriteByte('\n')
}
