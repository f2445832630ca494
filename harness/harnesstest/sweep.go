package harnesstest

import (
	"fmt"
	"testing"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// SweepSuite is what Sweep runs.
type SweepSuite struct {
	// Base is the scenario of the sharded store that is swept.
	Base generate.Base
	// Targets are the systems that Scenario may name, which is swept instead of Base when it is
	// set.
	Targets  target.Set
	Scenario *scenario.Scenario
	// Every is of how many faults one is tried; zero: each.
	Every int
}

// Sweep runs a base with the faults that could hit it, each failure a sub-test, and logs the
// matrix. What fails is stored and run first later, and -shardproof.replay is obeyed, as by Check.
func Sweep(t *testing.T, suite SweepSuite) {
	t.Helper()
	one := Suite{Targets: suite.Targets}
	if *replayFlag != "" {
		checkFile(t, one, *replayFlag)
		return
	}
	one.again(t)
	p, _, err := suite.plan()
	if err != nil {
		t.Fatal(err)
	}
	m, name := sweep.NewMatrix(p), t.Name()
	for from := 0; from < len(p.Singles); from += max(suite.Every, 1) {
		err := sweep.Run(p, sweep.Part{Targets: suite.targets(),
			From: from,
			To:   from + 1,
			Done: func(n int, o sweep.Outcome, failed *runner.Result) bool {
				m.Add(o, &p.Singles[n])
				if failed != nil {
					t.Run(fmt.Sprintf("fault=%d", n), func(t *testing.T) {
						one.check(t, failed.Scenario, failure{test: name, stored: storedIn(name)})
						t.Fatalf("%s, and it passes when it is run again", failed.Signature())
					})
				}
				return true
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d faults tried, %d reached, %d broke a promise\n%s",
		m.Runs, len(p.Singles), m.Reached, m.Broke, m)
}

func (suite *SweepSuite) targets() target.Set {
	if len(suite.Targets) == 0 {
		return harness.Targets()
	}
	return suite.Targets
}

func (suite *SweepSuite) plan() (*sweep.Plan, *runner.Result, error) {
	if suite.Scenario != nil {
		return sweep.PlanOf(suite.targets(), suite.Scenario, nil)
	}
	return sweep.PlanOf(suite.targets(), suite.Base.Scenario(""), suite.Base.Wanted)
}
