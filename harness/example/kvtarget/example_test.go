package kvtarget_test

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/example/kvtarget"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shrink"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/harness/target"
)

var (
	sound  = target.Set{kvtarget.Target{}}
	broken = target.Set{kvtarget.Target{ForgetsChanges: true}}
)

// TestSeeds runs drawn scenarios: the store holds its promises.
func TestSeeds(t *testing.T) {
	for seed := range uint64(200) {
		r, err := runner.Run(kvtarget.Draw(seed), runner.Options{Targets: sound, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Passed() {
			t.Fatalf("seed %d\n%s", seed, explain.Report(r, explain.Where{}))
		}
	}
}

// failures sweeps the base scenario and returns what fails.
func failures(t *testing.T, on target.Set) (failed []*runner.Result, reached int) {
	t.Helper()
	p, base, err := sweep.PlanOf(on, kvtarget.Base(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if base.Committed != 2 {
		t.Fatalf("%d of 2 movements were committed", base.Committed)
	}
	err = sweep.Run(p, sweep.Part{Targets: on, Workers: 2, Done: func(n int, o sweep.Outcome, r *runner.Result) bool {
		if o.Reached {
			reached++
		}
		if r != nil {
			failed = append(failed, r)
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d faults happened, %d runs failed", reached, len(p.Singles), len(failed))
	return failed, reached
}

// TestSweep tries every single fault at everything that happens: the store holds its promises.
func TestSweep(t *testing.T) {
	failed, _ := failures(t, sound)
	for _, r := range failed {
		again, err := runner.Run(r.Scenario, runner.Options{Targets: sound, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s\n%v %v", explain.Report(again, explain.Where{}), r.Scenario.Faults, r.Scenario.Decisions)
	}
}

// TestPlantedBug finds the bug by a sweep, explains it, and makes it small.
func TestPlantedBug(t *testing.T) {
	failed, _ := failures(t, broken)
	if len(failed) == 0 {
		t.Fatal("the sweep has not found the planted bug")
	}
	for _, r := range failed {
		t.Log(r.Signature(), r.Scenario.Faults, r.Scenario.Decisions)
	}
	found, err := shrink.Failure(failed[0].Scenario, shrink.Options{Targets: broken, Workers: 2, Runs: 500})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%s", shrink.Sizes(found.Scenario), found.Scenario)
	r, err := runner.Run(found.Scenario, runner.Options{Targets: broken, Events: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(explain.Report(r, explain.Where{}))
	if story := strings.Join(explain.StoryLines(r), "\n"); !strings.Contains(story, "CatchUp") {
		t.Errorf("the story does not name the message\n%s", story)
	}
}
