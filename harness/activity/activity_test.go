package activity

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// TestEverySiteBelongsToOneActivity: no site is left out, and no beginning of a name is for nothing
// or given twice.
func TestEverySiteBelongsToOneActivity(t *testing.T) {
	for _, in := range failpoint.All() {
		if Of(in.Name) == nil {
			t.Errorf("%s belongs to no activity", in.Name)
		}
	}
	given := make(map[string]string)
	for _, a := range All() {
		for _, beginning := range a.sites {
			if other := given[beginning]; other != "" {
				t.Errorf("%s and %s both have %s", other, a.Name, beginning)
			}
			given[beginning] = a.Name
			if !decides(a, beginning) {
				t.Errorf("no site is of %s because it begins with %s", a.Name, beginning)
			}
		}
	}
}

func decides(a *Activity, beginning string) bool {
	for _, in := range failpoint.All() {
		if strings.HasPrefix(in.Name, beginning) && Of(in.Name) == a {
			return true
		}
	}
	return false
}

// TestFind names the nearest ones.
func TestFind(t *testing.T) {
	if a, err := Find("balancer"); err != nil || a.Name != "balancer" {
		t.Errorf("the balancer is %v, %v", a, err)
	}
	if _, err := Find("balanser"); err == nil || !strings.Contains(err.Error(), "balancer") {
		t.Errorf("the error for an unknown name is %v", err)
	}
}

// TestScripts: every script runs by itself in both versions, keeps all promises, and goes through
// sites of its activity in one of them at least.
func TestScripts(t *testing.T) {
	pool := &sim.Pool{}
	defer pool.Close()
	for _, a := range All() {
		t.Run(a.Name, func(t *testing.T) {
			own := 0
			for _, protocol := range scenario.Protocols {
				var points []runner.InjectionPoint
				r, err := runner.Run(a.Scenario(protocol), runner.Options{
					Targets: target.Set{shardstore.Store{}}, Pool: pool, InjectionPoints: &points,
				})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Passed() {
					t.Errorf("%s: %v", r.Signature(), r.Worst().Violations)
				}
				for i := range points {
					if points[i].What == runner.FailpointPassed && Of(points[i].Site) == a {
						own++
					}
				}
			}
			if own == 0 {
				t.Error("the script passes no site of its activity")
			}
		})
	}
}

// TestOverlay lays every script over every other: what comes of it is a scenario that prints and
// parses, with everything that both have, and the second's clients write values of their own.
func TestOverlay(t *testing.T) {
	const at = 70 * time.Millisecond
	for _, a := range All() {
		for _, b := range All() {
			first, second := a.Scenario(""), b.Scenario("")
			s := Overlay("", a, Start{b, at})
			back, err := scenario.Parse("overlay", s.String())
			if err != nil {
				t.Fatalf("%s: %v\n%s", s.Name, err, s)
			}
			if back.String() != s.String() {
				t.Errorf("%s prints differently after it was parsed", s.Name)
			}
			if len(s.Ops) != len(first.Ops)+len(second.Ops) ||
				len(s.Migrations) != len(first.Migrations)+len(second.Migrations) ||
				len(s.Commands) != len(first.Commands)+len(second.Commands) ||
				len(s.Faults) != len(first.Faults)+len(second.Faults) {
				t.Errorf("%s has not everything of both", s.Name)
			}
			values := make(map[string]bool)
			for i, o := range s.Ops {
				if values[o.Value] || i >= len(first.Ops) && o.Client < Clients {
					t.Errorf("%s: %s has a value or a client of another one", s.Name, o)
				}
				values[o.Value] = o.Value != ""
			}
		}
	}
}
