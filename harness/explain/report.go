package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Where says how a reader gets at a failure: the seed's run in its campaign, the command that
// replays it and the files.
type Where struct {
	Run    string // "run 412 of 2,000", may be empty
	Folder string
	Replay []string
	Look   []string
	// Step is the command that walks through the run, without where to begin.
	Step string
	// Smallest says how small the scenario was made, Passing how its nearest neighbour that passes
	// differs, Shrink which command makes it smaller; each may be empty.
	Smallest, Passing, Shrink []string
	// Known says whether the signature is known; may be empty.
	Known string
}

// Report is the failure block of a run that did not pass: a proof in a fixed order, at most a
// screen.
func Report(r *runner.Result, w Where) string {
	var b strings.Builder
	worst := r.Worst()
	fmt.Fprintf(&b, "%s  %s   seed %d",
		strings.ToUpper(string(worst.Outcome)), r.Signature(), r.Scenario.Seed)
	protocol := ""
	if r.Scenario.Protocol != "" && r.Scenario.Protocol != scenario.Protocols[0] {
		protocol = "protocol " + r.Scenario.Protocol
	}
	for _, more := range []string{r.Scenario.Name, protocol, w.Run, w.Folder} {
		if more != "" {
			b.WriteString("   " + more)
		}
	}
	b.WriteByte('\n')
	row := func(name string, lines ...string) { writeRow(&b, name, lines) }
	prose := func(name string, lines ...string) { writeRow(&b, name, wrapAll(lines, 2)) }
	prose("Promise", worst.Promise)
	if len(worst.Violations) == 0 {
		prose("Undecided", FirstLines(worst.Undecided, 4)...)
	} else {
		v := &worst.Violations[0]
		prose("Broke", keyPrefix(v)+v.Broke)
		inside := Inside(r)
		if inside != nil {
			prose("Inside", inside.Lines()...)
		}
		row("Story", wrapAll(StoryLines(r), storyIndent)...)
		prose("Because", FirstLines(v.Because, reasons)...)
		prose("Code", CodeLines(r)...)
		prose("Also", otherFailures(r, worst)...)
	}
	prose("Smallest", w.Smallest...)
	prose("Passing", w.Passing...)
	row("Replay", w.Replay...)
	row("Step", stepLines(r, w.Step)...)
	row("Shrink", w.Shrink...)
	row("Files", w.Look...)
	if w.Known != "" {
		prose("Known?", w.Known)
	}
	return b.String()
}

// stepLines says how to walk through a failing run, beginning where it went wrong.
func stepLines(r *runner.Result, command string) []string {
	if command == "" {
		return nil
	}
	if _, ok := Turn(r); ok {
		return []string{command, command + " --at here --show all"}
	}
	return []string{command}
}

func keyPrefix(v *checkers.Violation) string {
	if v.Key == "" || strings.Contains(v.Broke, "k="+v.Key) {
		return ""
	}
	return "k=" + v.Key + ": "
}

// reasons is how many reasons a block has at most.
const reasons = 8

// writeRow writes lines under a name that stands before the first.
func writeRow(b *strings.Builder, name string, lines []string) {
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(b, rowFormat, name, line)
	}
}

// rowFormat leaves Width columns to a line.
const rowFormat = "  %-9s %s\n"

// FirstLines is the first lines, and how many there are besides.
func FirstLines(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most-1]), fmt.Sprintf("and %d more", len(lines)-most+1))
}

// otherFailures names what else broke: mostly consequences, which must not hide the first failure.
func otherFailures(r *runner.Result, worst checkers.Verdict) []string {
	var names []string
	if worst.Found > 1 {
		names = append(names, fmt.Sprintf("this promise broke %d times in all", worst.Found))
	}
	for _, v := range r.Verdicts {
		if v.Checker == worst.Checker || v.Outcome == checkers.Pass {
			continue
		}
		name := v.Checker + " " + map[checkers.Outcome]string{
			checkers.Fail:       "failed",
			checkers.Undecided:  "undecided",
			checkers.Documented: "shows a known anomaly",
		}[v.Outcome]
		if !slices.Contains(names, name) { // each collection is judged at the end
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return append([]string{strings.Join(names, ", ")}, otherSentences(r, worst)...)
}

// otherTold is how many sentences there are of what else the oracles of steps saw.
const otherTold = 3

// otherOfOne is how many of these may be of one checker.
const otherOfOne = 2

// otherSentences are what else oracles saw at single steps, the earliest first: the same fault may
// show in places that have nothing to do with the first failure.
func otherSentences(r *runner.Result, worst checkers.Verdict) []string {
	var firsts []*checkers.Violation
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Checker == worst.Checker || v.Outcome != checkers.Fail {
			continue
		}
		for j := range v.Violations[:min(len(v.Violations), otherOfOne)] {
			if len(v.Violations[j].Events) > 0 {
				firsts = append(firsts, &v.Violations[j])
			}
		}
	}
	slices.SortStableFunc(firsts, func(a, b *checkers.Violation) int {
		return cmp.Compare(slices.Max(a.Events), slices.Max(b.Events))
	})
	var lines []string
	for _, v := range firsts[:min(len(firsts), otherTold)] {
		lines = append(lines, fmt.Sprintf("step %d: %s%s", slices.Max(v.Events), keyPrefix(v), v.Broke))
	}
	return lines
}

// Markdown is the failure block with the scenario's faults, as a file for people.
func Markdown(r *runner.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, seed %d\n\n```\n%s```\n\n",
		cmp.Or(r.Signature(), "passed"), r.Scenario.Seed, Report(r, Where{}))
	b.WriteString("Faults of the scenario:\n\n")
	for _, f := range r.Scenario.Faults {
		fmt.Fprintf(&b, "- `%s`\n", f)
	}
	return b.String()
}
