package cli

import (
	"errors"
	"os/exec"
	"testing"
)

// TestNoCrashHasACodeOfItsOwn ends a worker in every way that is not a verdict.
func TestNoCrashHasACodeOfItsOwn(t *testing.T) {
	for script, want := range map[string]int{
		"exit 2":        exitHarness, // as Go ends after a panic, and out of memory
		"exit 0":        exitHarness,
		"exit 1":        exitHarness,
		"kill -9 $$":    exitHarness, // as the system ends what takes too much memory
		"kill -ABRT $$": exitHarness,
		"kill -PIPE $$": brokenPipeCode,
		"exit 32":       exitPassed,
		"exit 33":       exitBroke,
		"exit 34":       exitUndecided,
		"exit 96":       exitUsage,
		"exit 130":      exitInterrupted,
		"exit 31":       exitHarness,
		"exit 97":       exitHarness,
	} {
		c := exec.Command("sh", "-c", script)
		err := c.Run()
		if c.ProcessState == nil {
			t.Skip("no shell: ", err)
		}
		if got := endOfWorker(c.ProcessState, err); got != want {
			t.Errorf("%s: exit code %d, want %d", script, got, want)
		}
	}
}

// Every exit code is one that only a worker has.
func TestWorkerCodes(t *testing.T) {
	for _, code := range []int{
		exitPassed, exitBroke, exitUndecided, exitDiverged, exitHarness, exitUsage, exitInterrupted,
	} {
		if of := workerCode(code); of <= exitUndecided {
			t.Errorf("code %d is %d of a worker, as a crash", code, of)
		}
	}
}

// A broken promise outweighs results that could not be printed; nothing else does.
func TestUnwrittenResults(t *testing.T) {
	full := errors.New("no space left on device")
	for code, want := range map[int]int{
		exitPassed: exitHarness, exitUndecided: exitHarness, exitBroke: exitBroke,
	} {
		if got := endCode(exitWith(code), full); got != want {
			t.Errorf("code %d: got %d, want %d", code, got, want)
		}
	}
}
