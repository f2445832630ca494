package harnesstest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/sweep"
)

// SweepSuite is what Sweep runs.
type SweepSuite struct {
	Base generate.Base
	// Every is of how many faults one is tried; zero: each.
	Every int
}

// Sweep runs a base with the faults that could befall it, each failure a sub-test, and logs the matrix.
func Sweep(t *testing.T, suite SweepSuite) {
	t.Helper()
	p, _, err := sweep.PlanOf(harness.Targets(), suite.Base.Scenario(""), suite.Base.Wanted)
	if err != nil {
		t.Fatal(err)
	}
	m := sweep.NewMatrix(p)
	for from := 0; from < len(p.Singles); from += max(suite.Every, 1) {
		err := sweep.Run(p, sweep.Part{Targets: harness.Targets(), From: from, To: from + 1, Done: func(n int, o sweep.Outcome, failed *runner.Result) bool {
			m.Add(o, &p.Singles[n])
			if failed != nil {
				t.Run(fmt.Sprintf("fault=%d", n), func(t *testing.T) { sweepFailed(t, failed) })
			}
			return true
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d faults tried, %d reached, %d broke a promise\n%s", m.Runs, len(p.Singles), m.Reached, m.Broke, m)
}

func sweepFailed(t *testing.T, failed *runner.Result) {
	folder := filepath.Join(t.ArtifactDir(), failed.Signature())
	kept, err := harness.RunAndSave(failed.Scenario, runner.Options{}, folder, rundir.Environment{})
	if err != nil {
		t.Logf("the failing run was not kept: %v", err)
	}
	t.Fatal("\n" + explain.Report(kept, explain.Where{Folder: folder, Replay: []string{"shardproof replay " + folder}, Shrink: []string{"shardproof shrink " + folder}}))
}
