package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/trace"
)

// storyLines is how many lines a story has at most, besides those that prove the failure: the block
// has to fit on a screen.
const storyLines = 18

// Insight is the first violation that the step oracle saw of what a run is judged by: where the
// failure began, before any client noticed.
type Insight struct {
	Checker string
	Step    uint64
	At      time.Duration
	*checkers.Violation
}

// Inside finds the insight into a failing run, nil when the oracle saw nothing of it or is itself
// what decides the run. It needs the run's events.
func Inside(r *runner.Result) *Insight {
	worst := r.Worst()
	if len(worst.Violations) == 0 || len(worst.Violations[0].Events) > 0 {
		return nil
	}
	about := &worst.Violations[0]
	var first *Insight
	for i := range r.Verdicts {
		for j := range r.Verdicts[i].Violations {
			v := &r.Verdicts[i].Violations[j]
			if len(v.Events) == 0 || about.Key != "" && v.Key != about.Key ||
				!related(r, about, v) {
				continue
			}
			if step := v.Events[len(v.Events)-1]; first == nil || step < first.Step {
				first = &Insight{Checker: r.Verdicts[i].Checker, Step: step, Violation: v}
			}
		}
	}
	if first != nil {
		first.date(r)
	}
	return first
}

// related says whether what the oracle saw may have to do with a failure: when the failure is about
// certain replica sets and no document, it concerns one of them.
func related(r *runner.Result, about, v *checkers.Violation) bool {
	named := false
	for i := range r.Events {
		e := &r.Events[i]
		if about.Key != "" || e.Kind != trace.Elected || e.Shard == model.Config ||
			!namesIt(about.Broke, e.Shard) {
			continue
		}
		if strings.Contains(v.Broke+strings.Join(v.Because, " "), e.Shard) {
			return true
		}
		named = true
	}
	return !named
}

func (i *Insight) date(r *runner.Result) {
	for n := range r.Events {
		if r.Events[n].Step == i.Step {
			i.At = time.Duration(r.Events[n].At)
		}
	}
}

// Lines is the insight in lines for people.
func (i *Insight) Lines() []string {
	where := fmt.Sprintf("%s, step %d at %s: ", i.Checker, i.Step, i.At.Round(10*time.Microsecond))
	return append([]string{where + i.Broke}, FirstLines(i.Because, 3)...)
}

// contradictionOf is what a failing run's story is told of.
func contradictionOf(r *runner.Result) Contradiction {
	v := &r.Worst().Violations[0]
	about := Contradiction{
		NS:    v.NS,
		Key:   v.Key,
		Ops:   v.Ops,
		Steps: v.Events,
		Times: v.Times,
		Text:  v.Broke + " " + strings.Join(v.Because, " "),
	}
	if inside := Inside(r); inside != nil {
		about.Steps = append(slices.Clone(about.Steps), inside.Events...)
		if about.Key == "" {
			about.NS = cmp.Or(about.NS, inside.NS)
			about.Text += " " + inside.Broke + " " + strings.Join(inside.Because, " ")
		}
	}
	return about
}

// StoryLines tells what decides a failing run: how it came to that, and what of it was left out. It
// needs the run's events.
func StoryLines(r *runner.Result) []string {
	s := Build(recordOf(r), contradictionOf(r), storyLines)
	var lines []string
	for i := range s.Moments {
		line := momentLine(&s.Moments[i])
		if i > 0 && timeText(&s.Moments[i]) == timeText(&s.Moments[i-1]) {
			line = fmt.Sprintf(timeColumn+"%s", then, s.Moments[i].Text)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 || s.LeftOut+s.Unrelated == 0 {
		return lines
	}
	rest := "left out: " + counted(s.Unrelated, "unrelated event")
	if s.LeftOut > 0 {
		rest += ", " + counted(s.LeftOut, "line") + " on related ones"
	}
	return append(lines, rest)
}

// counted is a number with the noun that it counts.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// StoryLinesWithSteps is Story with the step of each event, for those who walk there.
func StoryLinesWithSteps(r *runner.Result) []string {
	if len(r.Worst().Violations) == 0 {
		return nil
	}
	var lines []string
	for _, m := range Build(recordOf(r), contradictionOf(r), storyLines).Moments {
		step := ""
		if m.Step != 0 {
			step = fmt.Sprint(m.Step)
		}
		lines = append(lines, fmt.Sprintf("%8s %s", step, momentLine(&m)))
	}
	return lines
}

// Turn is the step at which a failing run went wrong: the first turn of its story, or the last
// event that proves the failure.
func Turn(r *runner.Result) (step uint64, ok bool) {
	if r.Passed() || len(r.Worst().Violations) == 0 {
		return 0, false
	}
	about := contradictionOf(r)
	if turns := Build(recordOf(r), about, storyLines).Turns; len(turns) > 0 {
		return turns[0], true
	}
	if len(about.Steps) == 0 {
		return 0, false
	}
	return slices.Max(about.Steps), true
}

func recordOf(r *runner.Result) Run {
	return Run{Events: r.Events, Passages: r.Passages, History: r.History}
}

// momentLine is a moment in one line, with its time.
func momentLine(m *Moment) string {
	return fmt.Sprintf(timeColumn+"%s", timeText(m), m.Text)
}

func timeText(m *Moment) string { return rounded(m.At) }

// then stands in place of a time that is the same as in the line before: virtual time often stands
// still while one thing leads to the next.
const then = "then"

// timeColumn has the time of a moment before its text; storyIndent is where a second line begins.
const (
	timeColumn  = "%10s  "
	storyIndent = 14
)
