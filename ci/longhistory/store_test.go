package main

import (
	"path/filepath"
	"testing"

	"github.com/shardproof/shardproof/checkers"
)

// A history of the perfect store is well formed and passes, with cluster times and without.
func TestHistoryPasses(t *testing.T) {
	for _, timed := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "history")
		if err := makeHistory(file, 20_000, timed); err != nil {
			t.Fatal(err)
		}
		verdicts, err := checkers.CheckFile(file, checkers.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if v := checkers.Worst(verdicts); v.Outcome != checkers.Pass {
			t.Errorf("timed %v: %s: %s %v %v", timed, v.Checker, v.Outcome, v.Violations, v.Undecided)
		}
	}
}
