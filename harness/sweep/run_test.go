package sweep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
)

// TestSweepReachesWhatItPlans: a run goes the way of the one without faults until its fault, so
// every single fault happens.
func TestSweepReachesWhatItPlans(t *testing.T) {
	p := planOf(t, "migration")
	for _, part := range []Part{
		{Targets: store, From: 1000, To: 1020},
		{Targets: store, From: 5000, To: 5020},
	} {
		for n, o := range outcomes(t, p, part) {
			if !o.Reached {
				t.Errorf("fault %d was not reached: %s",
					part.From+n, p.Singles[part.From+n].String())
			}
		}
	}
}

// TestSweepInParts takes the same numbers for the same runs, with any number of workers and
// wherever it begins.
func TestSweepInParts(t *testing.T) {
	p := planOf(t, "move-primary")
	whole := outcomes(t, p, Part{Targets: store, Pairs: true, To: 24})
	parts := append(outcomes(t, planOf(t, "move-primary"),
		Part{Targets: store, Pairs: true, To: 9, Workers: 3}),
		outcomes(t, p, Part{Targets: store, Pairs: true, From: 9, To: 24, Workers: 2})...)
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("at once and in parts (-at once +in parts):\n%s", diff)
	}
}

func planOf(t *testing.T, name string) *Plan {
	t.Helper()
	base, err := generate.FindBase(name)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := PlanOf(store, base.Scenario(""), base.Wanted)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func outcomes(t *testing.T, p *Plan, part Part) (all []Outcome) {
	t.Helper()
	part.Done = func(_ int, o Outcome, _ *runner.Result) bool {
		all = append(all, o)
		return true
	}
	if err := Run(p, part); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSystemsWithoutConfig: where there is no config server, nothing is planned that would hit one.
func TestSystemsWithoutConfig(t *testing.T) {
	pair := []target.Node{{ID: "shard-a.0", Set: "shard-a"}, {ID: "shard-b.0", Set: "shard-b"}}
	whole := append(pair, target.Node{ID: "config.0", Set: "config"})
	if inCluster(pair, "config") || !inCluster(pair, "donor") || !inCluster(whole, "config") {
		t.Error("a fault is planned for a node that there is not, or left out for one that " +
			"there is")
	}
}
