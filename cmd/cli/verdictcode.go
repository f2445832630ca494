package cli

import (
	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/runner"
)

// exitCode is the code of one failure.
func exitCode(f *campaign.Failure) int {
	switch {
	case f.Err != nil:
		return exitHarness
	case f.Diverged != "":
		return exitDiverged
	}
	return codeOf(f.Result)
}

func codeOf(r *runner.Result) int { return outcomeCode(r.Worst().Outcome) }

func outcomeCode(o checkers.Outcome) int {
	switch o {
	case checkers.Fail:
		return exitBroke
	case checkers.Undecided:
		return exitUndecided
	}
	return exitPassed
}

// worseCode is the code that matters more: a broken promise before everything, an undecided run
// last.
func worseCode(a, b int) int {
	for _, code := range []int{exitBroke, exitDiverged, exitHarness, exitUndecided} {
		if a == code || b == code {
			return code
		}
	}
	return exitPassed
}
