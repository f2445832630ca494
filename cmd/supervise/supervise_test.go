package supervise

import (
	"os/exec"
	"testing"
)

// TestNoCrashHasACodeOfItsOwn ends a worker in every way that is not a verdict.
func TestNoCrashHasACodeOfItsOwn(t *testing.T) {
	for script, want := range map[string]int{
		"exit 2":        HarnessFailed, // as Go ends after a panic, and out of memory
		"exit 0":        HarnessFailed,
		"exit 1":        HarnessFailed,
		"kill -9 $$":    HarnessFailed, // as the system ends what takes too much memory
		"kill -ABRT $$": HarnessFailed,
		"kill -PIPE $$": brokenPipeCode,
		"exit 32":       0,
		"exit 33":       1,
		"exit 34":       2,
		"exit 96":       64,
		"exit 130":      Interrupted,
		"exit 31":       HarnessFailed,
		"exit 97":       HarnessFailed,
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
		0, 1, 2, 3, HarnessFailed, 64, Interrupted,
	} {
		if of := workerCode(code); of <= 2 {
			t.Errorf("code %d is %d of a worker, as a crash", code, of)
		}
	}
}
