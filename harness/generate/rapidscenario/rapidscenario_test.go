package rapidscenario

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// TestMovingLosesNothing is the project in one property: whatever clients do, whatever moves and
// whatever breaks, every promise holds.
func TestMovingLosesNothing(t *testing.T) {
	pool := &sim.Pool{}
	defer pool.Close()
	scenarios := Scenarios(Small, generate.QuickSettings())
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios.Draw(t, "scenario")
		r, err := runner.Run(s, runner.Options{Targets: store, Pool: pool})
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
	scenarios := Scenarios(Small, generate.QuickSettings())
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios.Draw(t, "scenario")
		parsed, err := runner.Parse(store, "drawn", s.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
		if parsed.String() != s.String() {
			t.Fatalf("printed again it is another scenario:\n%s\n%s", s, parsed)
		}
	})
}

// TestShrinking plants a promise that a certain meeting breaks, a migration while a fault happens,
// and wants the failing scenario small. Rapid shrinks greedily and may stop a few migrations short
// of one, depending on where it starts; the seeds are fixed so that the same starts are judged
// every time.
func TestShrinking(t *testing.T) {
	// The failure is planted: it must not be kept and tried first by later runs.
	set(t, "rapid.nofailfile", "true")
	for _, seed := range []string{"1", "2", "3", "4", "5"} {
		set(t, "rapid.seed", seed)
		s := shrunk(t)
		if len(s.Ops) > 1 || len(s.Migrations) > 4 || len(s.Faults) > 1 {
			t.Errorf("from seed %s the smallest scenario has %d operations, %d migrations and %d "+
				"faults, want at most 1, 4 and 1:\n%s",
				seed, len(s.Ops), len(s.Migrations), len(s.Faults), s)
		}
	}
}

// set changes a flag for the time of a test.
func set(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, old) })
}

// shrunk is the smallest scenario with the planted failure.
func shrunk(t *testing.T) *scenario.Scenario {
	t.Helper()
	var smallest *scenario.Scenario
	probe := &prober{}
	rapid.Check(probe, func(t *rapid.T) {
		s := Scenarios(Small, generate.QuickSettings()).Draw(t, "scenario")
		if len(s.Migrations) > 0 && len(s.Faults) > 0 {
			smallest = s
			t.Fatalf("a migration met a fault")
		}
	})
	if !probe.failed || smallest == nil {
		t.Fatal("the planted failure was not found")
	}
	return smallest
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
