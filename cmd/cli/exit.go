package cli

import (
	"errors"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
)

// The exit codes. `go run` turns every code but 0 into 1: use the built binary where they matter.
const (
	exitPassed      = 0
	exitBroke       = 1
	exitUndecided   = 2
	exitDiverged    = 3
	exitHarness     = 4
	exitUsage       = 64
	exitInterrupted = 130
)

// exitError is an error that knows its exit code. A nil err has been told already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(err error) *exitError { return &exitError{exitUsage, err} }

// folderError is why a folder cannot be used: to name that of another search is wrong usage.
func folderError(err error) *exitError {
	var other *rundir.OtherSearchError
	if errors.As(err, &other) {
		return usageError(err)
	}
	return &exitError{exitHarness, err}
}

func exitWith(code int) error {
	if code == exitPassed {
		return nil
	}
	return &exitError{code: code}
}

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
