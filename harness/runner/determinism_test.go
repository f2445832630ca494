package runner

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/sim"
)

// manifest is the trace hash of each of the first seeds, one a line.
func manifest(t *testing.T, seeds int, draw func(uint64) *scenario.Scenario) string {
	t.Helper()
	var lines strings.Builder
	pool := &sim.Pool{}
	defer pool.Close()
	for seed := range uint64(seeds) {
		r, err := Run(draw(seed), Options{Targets: store, Pool: pool})
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

// TestSameTraceInEveryProcess runs 50 seeds in processes that differ in whatever may leak into a
// run by mistake, and compares every trace hash.
func TestSameTraceInEveryProcess(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		fmt.Print(manifest(t, seedsAcross, generate.Mixed))
		return
	}
	if testing.Short() {
		t.Skip("runs 50 seeds in three processes")
	}
	want := manifest(t, seedsAcross, generate.Mixed)
	for _, env := range [][]string{
		{"GOMAXPROCS=1", "GOGC=5"},
		{"GOMAXPROCS=2", "GODEBUG=asyncpreemptoff=1"},
	} {
		child := exec.Command(os.Args[0], "-test.run=^TestSameTraceInEveryProcess$",
			"-test.v=false")
		child.Env = append(append(os.Environ(), env...), childEnv+"=1")
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", env, err, out)
		}
		compareLines(t, fmt.Sprint(env), want, string(out))
	}
}

// TestSameTraceWithRaceDetector builds the package with the race detector, which changes the
// memory, the scheduling and the speed of everything, and compares every trace hash.
func TestSameTraceWithRaceDetector(t *testing.T) {
	small := func(seed uint64) *scenario.Scenario { return smallSeed(t, seed) }
	if os.Getenv(childEnv) != "" {
		fmt.Print(manifest(t, seedsAcross, small))
		return
	}
	if testing.Short() {
		t.Skip("builds the package again")
	}
	child := exec.Command("go", "test", "-race", "-count=1", "-v", "-run",
		"^TestSameTraceWithRaceDetector$", ".")
	child.Env = append(os.Environ(), childEnv+"=1", "CGO_ENABLED=1")
	out, err := child.CombinedOutput()
	if err != nil && strings.Contains(string(out), "build failed") {
		t.Skipf("this machine cannot build with the race detector:\n%s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compareLines(t, "with -race", manifest(t, seedsAcross, small), string(out))
}

// hashLine is a line of a manifest among others.
var hashLine = regexp.MustCompile(`(?m)^\d+ [0-9a-f]{16} \d+$`)

func compareLines(t *testing.T, what, want, out string) {
	t.Helper()
	diff := cmp.Diff(hashLine.FindAllString(want, -1), hashLine.FindAllString(out, -1))
	if diff != "" {
		t.Errorf("%s: seeds, trace hashes and steps differ (-want +got):\n%s", what, diff)
	}
}

// TestPlanReplaysStepByStep turns what chance decided in a run into explicit decisions, prints and
// parses the scenario, and runs it again.
func TestPlanReplaysStepByStep(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	pool := &sim.Pool{}
	defer pool.Close()
	for seed := range uint64(seeds) {
		first, err := Run(generate.Mixed(1000+seed), Options{Targets: store, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Parse(store, "plan", first.Plan().String())
		if err != nil {
			t.Fatal(err)
		}
		second, err := Run(plan, Options{Targets: store, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		if first.Hash != second.Hash || first.Steps != second.Steps {
			t.Errorf("seed %d: the run took %d steps to %s, its plan %d to %s",
				first.Scenario.Seed, first.Steps, first.HashText(), second.Steps, second.HashText())
		}
	}
}

// TestCodecChangesNothing passes every message through bytes: a node that changed a message after
// sending it, or shared memory with another, would take another path or panic.
func TestCodecChangesNothing(t *testing.T) {
	for seed := range uint64(6) {
		s := generate.Mixed(2000 + seed)
		plain, err := Run(s, Options{Targets: store})
		if err != nil {
			t.Fatal(err)
		}
		s.Set(scenario.Setting{Name: "sim.net.encodeMessages", Value: "1"})
		coded, err := Run(s, Options{Targets: store})
		if err != nil {
			t.Fatal(err)
		}
		if plain.Hash != coded.Hash {
			t.Errorf("seed %d: hash %s, through the codec %s: %v",
				s.Seed, plain.HashText(), coded.HashText(), coded.Worst().Violations)
		}
	}
}

// TestRecordingChangesNothing: a run of which every event and exchange is kept takes the same steps
// as one of which nothing is.
func TestRecordingChangesNothing(t *testing.T) {
	said, passed := 0, 0
	for seed := range uint64(4) {
		plain, err := Run(generate.Mixed(seed), Options{Targets: store})
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := Run(generate.Mixed(seed), Options{Targets: store, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		if plain.HashText() != recorded.HashText() {
			t.Errorf("seed %d is another run when it is recorded", seed)
		}
		for i := range recorded.Events {
			if e := &recorded.Events[i]; e.Kind == trace.Exchanged {
				said++
				passed += len(e.Passed())
			}
		}
	}
	if said == 0 || passed == 0 {
		t.Errorf("%d exchanges are kept, with %d passages", said, passed)
	}
}
