package sweep

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
)

// TestAlone lists every single fault, and keeps every message and task back until whatever comes
// later, a client's request before anything moves too.
func TestAlone(t *testing.T) {
	run := append([]runner.InjectionPoint{{
		What:  runner.FailpointPassed,
		Site:  "request.versionCheck.after",
		Nth:   1,
		Node:  "shard-b.0",
		Role:  migrating[4].Role,
		Phase: runner.BeforeMoves,
		Actor: "donor",
	}}, migrating...)
	listed := make(map[string]int)
	for _, one := range SingleFaults(run) {
		listed[one.String()]++
	}
	for _, one := range New(nil, run).Singles {
		if listed[one.String()] == 0 {
			t.Errorf("%s is not listed", one.String())
		}
	}
	const request = `fault 1 at request.versionCheck.after #1 by shard-b.0 pause "" until donor.register #2`
	if listed[request] != 1 {
		t.Errorf("%s is listed %d times, want once", request, listed[request])
	}
}

// TestUpset has the steps of the commit window fail while requests are kept back, and nothing else.
func TestUpset(t *testing.T) {
	failing := migrating[0]
	failing.Phase, failing.Site = "kCommittingOnConfig", "donor.sendConfigCommit"
	run := append(migrating[4:5:5], failing)
	pairs := FaultPairs(run)
	for _, two := range pairs {
		held, other := two[0].String(), two[1].String()
		if !strings.HasPrefix(
			held, "fault 1 at request.versionCheck.after #4 by shard-b.0 pause",
		) || !strings.Contains(other, "at donor.sendConfigCommit #1") &&
			!strings.Contains(other, "request.versionCheck.after") {
			t.Errorf("%s\nwith %s", held, other)
		}
	}
	if len(pairs) != 4 {
		// An error and a kill of the step, and of the request, which is in the window too.
		t.Errorf("there are %d pairs, want 4", len(pairs))
	}
}

// TestWith numbers the faults that it adds behind those that there are.
func TestWith(t *testing.T) {
	base := &scenario.Scenario{}
	singles := New(nil, migrating[:1]).Singles
	s := With(base, singles[0], singles[1])
	for i, f := range s.Faults {
		if f.ID != i+1 {
			t.Errorf("fault %d has the number %d", i+1, f.ID)
		}
	}
	if len(s.Faults) != 2 || len(base.Faults) != 0 {
		t.Errorf("the scenario has %d faults, its base %d; want 2 and none",
			len(s.Faults), len(base.Faults))
	}
}
