package endstate

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// Liveness is liveness.
var Liveness = verdict.Checker{
	Name: "liveness",
	Promise: "Within the time limit after all faults have been repaired, every operation is " +
		"answered, and every migration, movePrimary, range deletion and change stream has " +
		"ended.",
	Signatures: verdict.Meanings{
		NotFinished: "an operation, a move or a stream has not ended in time",
	},
}

// NotFinished is the signature of what has not ended in time.
const NotFinished verdict.Signature = "not-finished"

// Progress is what a run had left to do when the time was up.
type Progress struct {
	// Asked counts what was asked for: operations and moves.
	Asked int
	// Unfinished is what has not ended, Waiting what the tasks that were left wait for.
	Unfinished []Unfinished
	Waiting    []Wait
	// Idle: it ended before the time limit, as nothing was left to happen.
	Idle bool
}

// Unfinished is something that has not ended: a sentence about it, the namespace if it belongs to
// one, and the node or the name of the task that carries it out, where one does. A stream waits for
// all else that has not ended.
type Unfinished struct {
	What, NS, Node, Task string
	Stream               bool
}

// last is 1 for what comes behind all else.
func (u *Unfinished) last() int {
	if u.Stream {
		return 1
	}
	return 0
}

// Check judges the progress. It is a pure function of it. What can be followed furthest comes
// first, and streams come last.
func (p *Progress) Check() verdict.Verdict {
	v := Liveness.Begin()
	v.Checked = p.Asked
	chains := make([][]string, len(p.Unfinished))
	order := make([]int, len(p.Unfinished))
	for i := range p.Unfinished {
		chains[i], order[i] = p.chain(&p.Unfinished[i]), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(chains[b]) - len(chains[a]) })
	slices.SortStableFunc(order, func(a, b int) int {
		return p.Unfinished[a].last() - p.Unfinished[b].last()
	})
	for _, i := range order {
		v.Add(verdict.Violation{
			Signature: NotFinished,
			NS:        p.Unfinished[i].NS,
			Broke:     "not finished: " + p.Unfinished[i].What,
			Because:   p.because(chains[i]),
		})
	}
	return v
}

// because is a chain of waits, and how many other tasks there are.
func (p *Progress) because(chain []string) []string {
	because := []string{"all faults had been repaired, and the time limit had passed"}
	if p.Idle {
		because[0] = "all faults had been repaired, and nothing was left to happen"
	}
	because = append(because, chain...)
	var others []string
	for i := range p.Waiting {
		w := &p.Waiting[i]
		if !w.Idle && !w.rests() && !slices.ContainsFunc(chain, w.toldIn) {
			others = append(others, "also left: "+w.brief())
		}
	}
	others = counted(others)
	return append(because, others[:min(len(others), waitingShown)]...)
}

// waitingShown is how many other tasks a violation names.
const waitingShown = 40

// counted tells equal lines once, and how often they were there.
func counted(lines []string) (once []string) {
	times := map[string]int{}
	for _, line := range lines {
		if times[line]++; times[line] == 1 {
			once = append(once, line)
		}
	}
	for i, line := range once {
		if n := times[line]; n > 1 {
			once[i] = fmt.Sprintf("%s (%d tasks)", line, n)
		}
	}
	return once
}
