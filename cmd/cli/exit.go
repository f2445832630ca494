package cli

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

// ending is an error that knows its exit code. A nil err has been told already.
type ending struct {
	code int
	err  error
}

func (e *ending) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *ending) Unwrap() error { return e.err }

func usageError(err error) *ending { return &ending{exitUsage, err} }

func exitWith(code int) error {
	if code == exitPassed {
		return nil
	}
	return &ending{code: code}
}
