package property

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// TestMovingLosesNothing is the project in one property: whatever clients do, whatever moves and whatever breaks, every
// promise holds.
func TestMovingLosesNothing(t *testing.T) {
	pool := &sim.Pool{}
	defer pool.Close()
	scenarios := Scenarios(Small, harness.QuickSettings())
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios.Draw(t, "scenario")
		r, err := harness.Run(s, harness.Options{Pool: pool})
		if err != nil {
			t.Fatalf("the drawn scenario cannot be run: %v\n%s", err, s)
		}
		if !r.Passed() {
			t.Fatalf("%s: %s", r.Signature(), s)
		}
	})
}

// TestDrawnScenariosPrintAndParse holds every drawn scenario to what a stored one must be.
func TestDrawnScenariosPrintAndParse(t *testing.T) {
	scenarios := Scenarios(Small, harness.QuickSettings())
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios.Draw(t, "scenario")
		parsed, err := harness.Parse("drawn", s.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
		if parsed.String() != s.String() {
			t.Fatalf("printed again it is another scenario:\n%s\n%s", s, parsed)
		}
	})
}

// TestShrinking plants a promise that a certain meeting breaks, a migration while a fault happens, and wants the failing
// scenario small.
func TestShrinking(t *testing.T) {
	// The failure is planted: it must not be kept and tried first by later runs.
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	defer flag.Set("rapid.nofailfile", "false")
	var smallest *scenario.Scenario
	probe := &prober{}
	rapid.Check(probe, func(t *rapid.T) {
		s := Scenarios(Small, harness.QuickSettings()).Draw(t, "scenario")
		if len(s.Migrations) > 0 && len(s.Faults) > 0 {
			smallest = s
			t.Fatalf("a migration met a fault")
		}
	})
	if !probe.failed || smallest == nil {
		t.Fatal("the planted failure was not found")
	}
	if len(smallest.Ops) > 1 || len(smallest.Migrations) > 1 || len(smallest.Faults) > 1 {
		t.Errorf("the smallest scenario has %d operations, %d migrations and %d faults, want 1 of each:\n%s",
			len(smallest.Ops), len(smallest.Migrations), len(smallest.Faults), smallest)
	}
}

// prober takes the place of a test that is meant to fail.
type prober struct {
	rapid.TB
	failed bool
}

func (*prober) Helper()                 {}
func (*prober) Name() string            { return "planted" }
func (*prober) Logf(string, ...any)     {}
func (*prober) Log(...any)              {}
func (*prober) Skipf(string, ...any)    {}
func (*prober) Skip(...any)             {}
func (*prober) SkipNow()                {}
func (p *prober) Errorf(string, ...any) { p.failed = true }
func (p *prober) Error(...any)          { p.failed = true }
func (p *prober) Fatalf(string, ...any) { p.failed = true }
func (p *prober) Fatal(...any)          { p.failed = true }
func (p *prober) FailNow()              { p.failed = true }
func (p *prober) Fail()                 { p.failed = true }
func (p *prober) Failed() bool          { return p.failed }
