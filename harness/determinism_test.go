package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// manifest is the trace hash of each of the first seeds of the mixed campaign, one a line.
func manifest(t *testing.T, seeds int) string {
	t.Helper()
	var lines strings.Builder
	pool := &sim.Pool{}
	defer pool.Close()
	for seed := range uint64(seeds) {
		r, err := Run(Mixed(seed), Options{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%d %s %d\n", seed, r.HashText(), r.Steps)
	}
	return lines.String()
}

const (
	seedsAcross = 50
	childEnv    = "SHARDPROOF_PRINT_MANIFEST"
)

// TestSameTraceInEveryProcess runs 50 seeds in processes that differ in whatever may leak into a run by mistake, and
// compares every trace hash.
func TestSameTraceInEveryProcess(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		fmt.Print(manifest(t, seedsAcross))
		return
	}
	if testing.Short() {
		t.Skip("runs 50 seeds in three processes")
	}
	want := manifest(t, seedsAcross)
	for _, env := range [][]string{{"GOMAXPROCS=1", "GOGC=5"}, {"GOMAXPROCS=2", "GODEBUG=asyncpreemptoff=1"}} {
		child := exec.Command(os.Args[0], "-test.run=^TestSameTraceInEveryProcess$", "-test.v=false")
		child.Env = append(append(os.Environ(), env...), childEnv+"=1")
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", env, err, out)
		}
		got, _, _ := strings.Cut(string(out), "PASS")
		compareLines(t, fmt.Sprint(env), want, got)
	}
}

func compareLines(t *testing.T, what, want, got string) {
	t.Helper()
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			t.Errorf("%s: seed, hash and steps are %q, want %q", what, b[min(i, len(b)-1)], a[i])
		}
	}
}

// TestPlanReplaysStepByStep turns what chance decided in a run into explicit decisions, prints and parses the scenario,
// and runs it again.
func TestPlanReplaysStepByStep(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	pool := &sim.Pool{}
	defer pool.Close()
	for seed := range uint64(seeds) {
		first, err := Run(Mixed(1000+seed), Options{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Parse("plan", first.Plan().String())
		if err != nil {
			t.Fatal(err)
		}
		second, err := Run(plan, Options{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		if first.Hash != second.Hash || first.Steps != second.Steps {
			t.Errorf("seed %d: the run took %d steps to %s, its plan %d to %s", first.Scenario.Seed, first.Steps, first.HashText(),
				second.Steps, second.HashText())
		}
	}
}

// TestCodecChangesNothing passes every message through bytes: a node that changed a message after sending it, or shared
// memory with another, would take another path or panic.
func TestCodecChangesNothing(t *testing.T) {
	for seed := range uint64(6) {
		s := Mixed(2000 + seed)
		plain, err := Run(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Settings = append(s.Settings, scenario.Setting{Name: "world.codec", Value: "1"})
		coded, err := Run(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if plain.Hash != coded.Hash {
			t.Errorf("seed %d: hash %s, through the codec %s: %v", s.Seed, plain.HashText(), coded.HashText(), coded.Worst().Violations)
		}
	}
}
