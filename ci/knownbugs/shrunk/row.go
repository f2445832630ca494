// Package shrunk is the table of what the first failure of each known bug comes down to when it is
// shrunk, as a Markdown file that reads back, so that it can be filled in pieces; and the demand
// that every row must keep.
//
// Promise: Read of what Write has written gives an equal table. A file that is no such table is an
// error, and is left as it is.
//
// Refusal: it runs and shrinks nothing itself, and believes what it is told of replays.
package shrunk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
)

// Sizes count the lines of a scenario by what they do.
type Sizes struct {
	// Operations are those of clients.
	Operations int
	// Planned are faults that the scenario plans, the failpoints that its settings switch on
	// included. Decided are those that chance has decided: a lost, doubled or slow message, a task
	// that stalls, a slow disk, what a crash leaves of a file.
	Planned, Decided int
	// Moves are migrations and moves of primaries.
	Moves, Commands, Streams int
}

// Of counts a scenario, which must be planned: otherwise chance decides faults that no line tells
// of.
func Of(s *scenario.Scenario) (Sizes, error) {
	if !s.Planned {
		return Sizes{}, errors.New("the scenario is not planned: its faults cannot be counted")
	}
	switched := 0
	for _, v := range s.Settings {
		if strings.HasPrefix(v.Name, "failpoint.") {
			switched++
		}
	}
	return Sizes{
		Operations: len(s.Ops),
		Planned:    len(s.Faults) + switched,
		Decided:    len(s.Decisions),
		Moves:      len(s.Migrations) + len(s.Primaries),
		Commands:   len(s.Commands),
		Streams:    len(s.Streams),
	}, nil
}

// What a row must come down to, and in how many seconds.
const (
	MostOperations = 10
	MostFaults     = 2
	MostSeconds    = 60
)

// Row is what was made of one known bug's first failure.
type Row struct {
	Bug, Signature string
	Seed           int
	Before, After  Sizes
	// Runs is how many candidates were tried.
	Runs int
	// Seconds are those that the whole search took of one core: what else a machine does makes no
	// difference to them.
	Seconds float64
	// Demand is "kept", or says in which ways the row breaks it.
	Demand string
}

// kept is the Demand of a row that keeps it.
const kept = "kept"

// Kept says whether the row keeps the demand.
func (r *Row) Kept() bool { return r.Demand == kept }

// Replays are what replays of the smallest scenario in processes of their own have shown.
type Replays struct {
	// Signature is what it fails with; empty when it passes.
	Signature string
	// Same is true when two of them were the same byte for byte.
	Same bool
	// Passes is true when it passes on a build without the bug.
	Passes bool
}

// Judge holds the row against the demand.
func (r *Row) Judge(again Replays) {
	var broken []string
	for _, d := range []struct {
		holds bool
		what  string
	}{
		{
			r.After.Operations <= MostOperations,
			fmt.Sprintf("more than %d operations", MostOperations),
		},
		{
			r.After.Planned+r.After.Decided <= MostFaults,
			fmt.Sprintf("more than %d faults", MostFaults),
		},
		{r.Seconds <= MostSeconds, fmt.Sprintf("more than %d s", MostSeconds)},
		{again.Signature == r.Signature, fmt.Sprintf("signature %q", again.Signature)},
		{again.Same, "replays differ"},
		{again.Passes, "fails without the bug"},
	} {
		if !d.holds {
			broken = append(broken, d.what)
		}
	}
	if r.Demand = strings.Join(broken, ", "); len(broken) == 0 {
		r.Demand = kept
	}
}

// columns are the titles of the fields of a row.
var columns = []string{
	"known bug", "seed", "signature", "operations", "faults planned", "faults of chance", "moves",
	"commands", "streams", "runs", "s", "demand",
}

// counts are the numbers of a Sizes in the order of the columns.
func (s *Sizes) counts() []*int {
	return []*int{&s.Operations, &s.Planned, &s.Decided, &s.Moves, &s.Commands, &s.Streams}
}

// firstCount is the column of the first of the counts, lastCount that after the last.
const firstCount, lastCount = 3, 9

// fields are the row's texts by column.
func (r *Row) fields() []string {
	fields := []string{r.Bug, fmt.Sprint(r.Seed), r.Signature}
	after := r.After.counts()
	for i, before := range r.Before.counts() {
		fields = append(fields, fmt.Sprintf("%d → %d", *before, *after[i]))
	}
	return append(fields, fmt.Sprint(r.Runs), fmt.Sprintf("%.1f", r.Seconds), r.Demand)
}

// rowOf reads what fields has printed.
func rowOf(fields []string) (r Row, err error) {
	if len(fields) != len(columns) {
		return r, fmt.Errorf("%d fields, want %d", len(fields), len(columns))
	}
	r.Bug, r.Signature, r.Demand = fields[0], fields[2], fields[lastCount+2]
	scan := func(column int, format string, into ...any) {
		if _, wrong := fmt.Sscanf(fields[column], format, into...); wrong != nil && err == nil {
			err = fmt.Errorf("%q is no %s", fields[column], columns[column])
		}
	}
	scan(1, "%d", &r.Seed)
	before, after := r.Before.counts(), r.After.counts()
	for i := range before {
		scan(firstCount+i, "%d → %d", before[i], after[i])
	}
	scan(lastCount, "%d", &r.Runs)
	scan(lastCount+1, "%f", &r.Seconds)
	return r, err
}

// Line is the row for a terminal.
func (r *Row) Line() string {
	return fmt.Sprintf("%-30s  %3d → %2d operations, %2d → %d faults, %4d runs, %5.1f s: %s",
		r.Bug, r.Before.Operations, r.After.Operations, r.Before.Planned+r.Before.Decided,
		r.After.Planned+r.After.Decided, r.Runs, r.Seconds, r.Demand)
}
