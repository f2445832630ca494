package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Where says how a reader gets at a failure: the seed's run in its campaign, the command that replays it and the files.
type Where struct {
	Run    string // "run 412 of 2,000", may be empty
	Folder string
	Replay []string
	Look   []string
	// Smallest says how small the scenario was made, Passing how its nearest neighbour that passes differs, Shrink which
	// command makes it smaller; each may be empty.
	Smallest, Passing, Shrink []string
	// Known says whether the signature is known; may be empty.
	Known string
}

// storyLines is how many lines a story has at most: the block has to fit on a screen.
const storyLines = 14

// Report is the failure block of a run that did not pass: a proof in a fixed order, at most a screen.
func Report(r *Result, w Where) string {
	var b strings.Builder
	worst := r.Worst()
	fmt.Fprintf(&b, "%s  %s   seed %d", strings.ToUpper(string(worst.Outcome)), r.Signature(), r.Scenario.Seed)
	for _, more := range []string{r.Scenario.Name, w.Run, w.Folder} {
		if more != "" {
			b.WriteString("   " + more)
		}
	}
	b.WriteByte('\n')
	row := func(name string, lines ...string) {
		for i, line := range lines {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-9s %s\n", name, Cut(line))
		}
	}
	row("Promise", worst.Promise)
	if len(worst.Violations) == 0 {
		row("Open", First(worst.Undecided, 4)...)
	} else {
		v := &worst.Violations[0]
		row("Broke", place(v)+v.Broke)
		row("Story", Story(r, v)...)
		row("Because", First(v.Because, 6)...)
		row("Also", also(r, worst)...)
	}
	row("Smallest", w.Smallest...)
	row("Passing", w.Passing...)
	row("Replay", w.Replay...)
	row("Shrink", w.Shrink...)
	row("Look", w.Look...)
	if w.Known != "" {
		row("Known?", w.Known)
	}
	return b.String()
}

func place(v *checkers.Violation) string {
	if v.Key == "" || strings.Contains(v.Broke, "k="+v.Key) {
		return ""
	}
	return "k=" + v.Key + ": "
}

// Cut shortens a line to what fits on a wide terminal.
func Cut(line string) string {
	const most = 160
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most-1], "") + "…"
}

// First is the first lines, and how many there are besides.
func First(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most-1]), fmt.Sprintf("and %d more", len(lines)-most+1))
}

// also names what else broke: mostly consequences, which must not hide the first failure.
func also(r *Result, worst checkers.Verdict) []string {
	var names []string
	if worst.Found > 1 {
		names = append(names, fmt.Sprintf("%d violations of this promise in all", worst.Found))
	}
	for _, v := range r.Verdicts {
		if v.Checker != worst.Checker && v.Outcome != checkers.Pass {
			names = append(names, v.Checker+" "+string(v.Outcome))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{strings.Join(names, ", ")}
}

// line is one line of a story.
type line struct {
	step uint64
	at   int64
	text string
	// weight says how much it matters; a story that is too long loses the lightest and oldest first.
	weight int
}

// Story tells a violation from what happened: its operations, its events, and around them the faults, elections and
// phases of migrations. It needs the run's events.
func Story(r *Result, v *checkers.Violation) []string {
	lines := operations(r, v)
	from, to := window(lines, v, r)
	for i := range r.Events {
		e := &r.Events[i]
		if slices.Contains(v.Events, e.Step) {
			lines = append(lines, line{e.Step, e.At, tell(e), 4})
		} else if weight := telling(e); weight > 0 && e.At >= from && e.At <= to {
			lines = append(lines, line{e.Step, e.At, tell(e), weight})
		}
	}
	lines = shorten(lines)
	slices.SortStableFunc(lines, func(a, b line) int { return int(min(max(a.at-b.at, -1), 1)) })
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = fmt.Sprintf("%10s  %s", time.Duration(l.at).Round(10*time.Microsecond), l.text)
	}
	return texts
}

func operations(r *Result, v *checkers.Violation) []line {
	var lines []line
	for i := range r.History {
		op := &r.History[i]
		if slices.Contains(v.Ops, op.ID) && op.Client != histories.PreloadClient {
			lines = append(lines, line{at: op.ReturnAt, text: TellOp(op), weight: 4})
		}
	}
	return lines
}

// window is the time a story covers: from before its first operation to its last.
func window(lines []line, v *checkers.Violation, r *Result) (from, to int64) {
	const before = int64(400 * time.Millisecond)
	var times []int64
	for _, l := range lines {
		times = append(times, l.at)
	}
	for i := range r.Events {
		if slices.Contains(v.Events, r.Events[i].Step) {
			times = append(times, r.Events[i].At)
		}
	}
	if len(times) == 0 {
		return 0, int64(r.Virtual)
	}
	return slices.Min(times) - before, slices.Max(times)
}

// shorten drops the lightest lines, and of those the oldest, until the rest fits.
func shorten(lines []line) []line {
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.weight != b.weight {
			return b.weight - a.weight
		}
		return int(min(max(b.at-a.at, -1), 1))
	})
	return lines[:min(len(lines), storyLines)]
}

// telling is how much an event says to a reader; zero: nothing.
func telling(e *event.Event) int {
	switch e.Kind {
	case event.Fault, event.DecisionMade, event.MigrationEnded:
		return 3
	case event.DonorState, event.RecipientState, event.CatalogWritten, event.NodeDown, event.Elected:
		return 2
	case event.Repair, event.RangeDeletion, event.CriticalSection, event.SteppedDown, event.RolledBack:
		return 1
	}
	return 0
}

// TellOp is an operation in one line, as its client saw it.
func TellOp(op *histories.Op) string {
	text := fmt.Sprintf("client %d: %s", op.Client, op.Kind)
	switch {
	case op.Kind == scenario.Scan:
		text += fmt.Sprintf(" [%d, %d) → %d documents", op.Key, op.To, len(op.Result.Items))
	case op.Kind.Whole():
		text += " " + op.NS
	default:
		text += fmt.Sprintf(" k=%d", op.Key)
	}
	if op.Value != "" {
		text += " " + op.Value
	}
	switch {
	case op.Outcome != histories.OK:
		text += " → " + string(op.Outcome) + " (" + op.Error + ")"
	case op.Kind == scenario.Read:
		text += " → " + seen(&op.Result)
	case op.Result.Found:
		text += " → acknowledged, there was " + seen(&op.Result)
	case op.Kind != scenario.Scan && !op.Kind.Whole() && !op.Result.Applied:
		text += " → no effect"
	case op.Kind != scenario.Scan:
		text += " → acknowledged"
	}
	return fmt.Sprintf("%s (op %d, began %s)", text, op.ID, time.Duration(op.CallAt).Round(10*time.Microsecond))
}

func seen(r *histories.Result) string {
	switch {
	case !r.Found:
		return "absent"
	case len(r.List) > 0:
		return fmt.Sprintf("%s %v", r.Value, r.List)
	}
	return r.Value
}

// Markdown is the failure block with the scenario's faults, as a file for people.
func Markdown(r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, seed %d\n\n```\n%s```\n\n", cmp.Or(r.Signature(), "passed"), r.Scenario.Seed, Report(r, Where{}))
	b.WriteString("Faults of the scenario:\n\n")
	for _, f := range r.Scenario.Faults {
		fmt.Fprintf(&b, "- `%s`\n", f)
	}
	return b.String()
}
