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
		notFinished: "an operation, a move or a stream has not ended in time",
	},
}

// notFinished is the signature of what has not ended in time.
const notFinished verdict.Signature = "not-finished"

// Progress is what a run had left to do when the time was up.
type Progress struct {
	// Asked counts what was asked for: operations and moves.
	Asked int
	// Unfinished names what has not ended, one sentence each.
	Unfinished []string
	// Waiting describes the tasks that were left, by which it can be seen what is waited for; equal
	// ones are told once.
	Waiting []string
}

// waitingShown is how many tasks a violation names.
const waitingShown = 40

// Check judges the progress. It is a pure function of it.
func (p *Progress) Check() verdict.Verdict {
	v := Liveness.Begin()
	v.Checked = p.Asked
	because := []string{"all faults had been repaired, and the time limit had passed"}
	waiting := counted(p.Waiting)
	because = append(because, waiting[:min(len(waiting), waitingShown)]...)
	for _, what := range p.Unfinished {
		v.Add(verdict.Violation{
			Signature: notFinished,
			Broke:     "not finished: " + what,
			Because:   slices.Clone(because),
		})
	}
	return v
}

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
