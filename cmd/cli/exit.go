package cli

import (
	"errors"

	"github.com/shardproof/shardproof/harness/rundir"
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
