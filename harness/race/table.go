package race

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sum adds tallies up; sites and events are those of the pair that has most of them.
func Sum(all []Tally) (sum Tally) {
	for _, t := range all {
		sum.Sites, sum.Events = max(sum.Sites, t.Sites), max(sum.Events, t.Events)
		sum.Runs, sum.Held, sum.Broke = sum.Runs+t.Runs, sum.Held+t.Held, sum.Broke+t.Broke
		sum.Distinct, sum.Steps = sum.Distinct+t.Distinct, sum.Steps+t.Steps
	}
	return sum
}

// Matrix is a Markdown table of tallies: a row for each activity that is held, a column for each
// that goes on. A cell says how often the first was held and let go again, in bold how many of the
// runs broke a promise.
func Matrix(all []Tally) string {
	var b strings.Builder
	names := namesOf(all, func(t *Tally) string { return t.Second.Name })
	fmt.Fprintf(&b, "| held | %s | all |\n|%s\n", strings.Join(names, " | "),
		strings.Repeat(" --- |", len(names)+2))
	for _, first := range namesOf(all, func(t *Tally) string { return t.First.Name }) {
		row := where(all, func(t *Tally) bool { return t.First.Name == first })
		fmt.Fprintf(&b, "| %s |", first)
		for _, second := range names {
			cell := where(row, func(t *Tally) bool { return t.Second.Name == second })
			fmt.Fprintf(&b, " %s |", cellOf(Sum(cell)))
		}
		fmt.Fprintf(&b, " %s |\n", cellOf(Sum(row)))
	}
	return b.String()
}

func cellOf(t Tally) string {
	if t.Broke > 0 {
		return fmt.Sprintf("%d **%d broke**", t.Held, t.Broke)
	}
	return fmt.Sprint(t.Held)
}

func namesOf(all []Tally, of func(*Tally) string) (names []string) {
	for i := range all {
		names = append(names, of(&all[i]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func where(all []Tally, wanted func(*Tally) bool) (some []Tally) {
	for i := range all {
		if wanted(&all[i]) {
			some = append(some, all[i])
		}
	}
	return some
}

// List is a Markdown table with a row for each pair. Its time is that part of the whole which its
// steps are of all steps.
func List(all []Tally, took time.Duration) string {
	var b strings.Builder
	b.WriteString("| held | goes on | protocol | sites × events | runs | held and released " +
		"| unlike each other | broke | time |\n|" + strings.Repeat(" --- |", 9) + "\n")
	steps := max(Sum(all).Steps, 1)
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Tally) int {
		return strings.Compare(a.title(), b.title())
	})
	for _, t := range sorted {
		part := took / time.Duration(steps) * time.Duration(t.Steps)
		fmt.Fprintf(&b, "| %s | %s | %s | %d × %d | %d | %d | %d | %d | %s |\n",
			t.First.Name, t.Second.Name, t.version(), t.Sites, t.Events, t.Runs, t.Held, t.Distinct,
			t.Broke, part.Round(10*time.Millisecond))
	}
	return b.String()
}

func (t *Tally) version() string {
	if t.Protocol == "" {
		return "8.0"
	}
	return t.Protocol
}

// title orders the rows.
func (t *Tally) title() string {
	return t.First.Name + "\x00" + t.Second.Name + "\x00" + t.version()
}
