package shrunk

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/ci/knownbugs/markdown"
)

// Table is the rows by bug.
type Table struct{ rows map[string]Row }

// Read reads the table of a file, an empty one when there is no file.
func Read(file string) (*Table, error) {
	t := &Table{rows: make(map[string]Row)}
	err := markdown.Rows(file, func(fields []string) error {
		if fields[0] == columns[0] {
			return nil
		}
		r, err := rowOf(fields)
		if err == nil {
			t.Set(r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Has says whether there is a row of the bug.
func (t *Table) Has(bug string) bool {
	_, ok := t.rows[bug]
	return ok
}

// Set puts a row in, in place of what there is of its bug.
func (t *Table) Set(r Row) { t.rows[r.Bug] = r }

// Rows are all rows, by the names of their bugs.
func (t *Table) Rows() (all []Row) {
	for _, r := range t.rows {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Row) int { return strings.Compare(a.Bug, b.Bug) })
	return all
}

// Write puts the table in place of the file.
func (t *Table) Write(file string) error { return os.WriteFile(file, []byte(t.String()), 0o644) }

const preface = `# What the first failure of each known bug comes down to

Each was found with plain random seeds and shrunk with the command line of the build that has the
bug; the counts are those before → after. A fault is one that the scenario plans, or one that
chance has decided: a lost, duplicated or slow message, a task that stalls, a slow disk, what a
crash leaves of a file. Each counts as one, and nothing that is not written out in a scenario is
left to chance. Moves are migrations and moves of primaries; runs are the candidates that were
tried; s are the seconds that the whole command took of one core, which what else a machine does
changes little.

The demand: at most %d operations and %d faults in at most %d s; in processes of its own the
scenario fails with the same signature, its traces are the same byte for byte, and it passes on the
build without the bug. ` + "`go run ./ci/gate -shrunk`" + ` measures what is missing, with ` +
	"`-bug NAME`" + ` that
bug again.

`

// String is the file: a row for each bug, by name, and how many keep the demand.
func (t *Table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, preface, MostOperations, MostFaults, MostSeconds)
	fmt.Fprintf(&b, "| %s |\n|%s\n",
		strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	rows := t.Rows()
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.fields(), " | "))
	}
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n", sums(rows))
	}
	return b.String()
}

// sums say in a sentence how well the demand is kept.
func sums(rows []Row) string {
	good := 0
	var most Row
	for _, r := range rows {
		if r.Kept() {
			good++
		}
		most.After.Operations = max(most.After.Operations, r.After.Operations)
		most.After.Planned = max(most.After.Planned, r.After.Planned+r.After.Decided)
		most.Seconds = max(most.Seconds, r.Seconds)
	}
	slices.SortFunc(rows, func(a, b Row) int { return int(a.Seconds*10) - int(b.Seconds*10) })
	return fmt.Sprintf("%d of %d keep the demand. Most operations: %d; most faults: %d; longest: "+
		"%.1f s, median %.1f s.",
		good, len(rows), most.After.Operations, most.After.Planned, most.Seconds,
		rows[(len(rows)-1)/2].Seconds)
}
