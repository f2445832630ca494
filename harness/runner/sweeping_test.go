package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/sweep"
)

// TestSweeps tries one in a hundred of the faults of every base; the command line tries them all.
func TestSweeps(t *testing.T) {
	for _, base := range SweepBases() {
		t.Run(base.Name, func(t *testing.T) { Sweep(t, SweepSuite{Base: base, Every: 100}) })
	}
}

// TestSweepReachesWhatItPlans: a run goes the way of the one without faults until its fault, so every single fault happens.
func TestSweepReachesWhatItPlans(t *testing.T) {
	p := planOf(t, "migration")
	for _, part := range []Sweeping{{From: 1000, To: 1020}, {From: 5000, To: 5020}} {
		for n, o := range outcomes(t, p, part) {
			if !o.Reached {
				t.Errorf("fault %d was not reached: %s", part.From+n, p.Singles[part.From+n].String())
			}
		}
	}
}

// TestSweepInParts takes the same numbers for the same runs, with any number of workers and wherever it begins.
func TestSweepInParts(t *testing.T) {
	p := planOf(t, "move-primary")
	whole := outcomes(t, p, Sweeping{Pairs: true, To: 24})
	parts := append(outcomes(t, planOf(t, "move-primary"), Sweeping{Pairs: true, To: 9, Workers: 3}),
		outcomes(t, p, Sweeping{Pairs: true, From: 9, To: 24, Workers: 2})...)
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("at once and in parts (-at once +in parts):\n%s", diff)
	}
}

func planOf(t *testing.T, name string) *sweep.Plan {
	t.Helper()
	base, err := FindSweepBase(name)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := PlanSweep(base.Scenario(""), base.Wanted)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func outcomes(t *testing.T, p *sweep.Plan, part Sweeping) (all []sweep.Outcome) {
	t.Helper()
	part.Done = func(_ int, o sweep.Outcome, _ *Result) bool {
		all = append(all, o)
		return true
	}
	if err := RunSweep(p, part); err != nil {
		t.Fatal(err)
	}
	return all
}
