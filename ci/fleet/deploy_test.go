package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/harness"
)

const root = "../.."

// TestMain lets the test's own program stand for the tool.
func TestMain(m *testing.M) {
	if os.Getenv(asTool) != "" {
		os.Exit(cli.Main(harness.Targets()...))
	}
	os.Exit(m.Run())
}

const asTool = "FLEET_TEST_AS_TOOL"

// TestFleet: workers, of which one is killed by SIGKILL and started again, find together what one
// process finds; what the dead one had finished is not lost.
func TestFleet(t *testing.T) {
	tool, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asTool, "yes")
	f := &fleet{tool: tool, out: filepath.Join(t.TempDir(), "out"), profile: "contended",
		seeds: 18, workers: 3, die: 1}
	if err := f.prove(); err != nil {
		t.Error(err)
	}
	f.seeds, f.workers, f.die = 6, 1, 0
	if err := f.compare(); !errors.Is(err, errDiffers) {
		t.Errorf("eighteen seeds instead of six: %v", err)
	}
}

// TestPart: the script of a part asks for the part's seeds, and its exit code tells an engine only
// whether the part is done.
func TestPart(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool")
	for _, c := range []struct{ tool, end string }{{"0", "0"}, {"1", "0"}, {"2", "0"}, {"3", "3"},
		{"130", "130"}} {
		script := "#!/bin/sh\necho \"$*\"\nexit " + c.tool + "\n"
		if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", filepath.Join(root, "deploy", "part.sh"), "--parallel", "1")
		cmd.Env = append(os.Environ(), "SHARDPROOF="+tool, "INDEX=3", "SEEDS=1000", "FIRST=501")
		out, _ := cmd.CombinedOutput()
		want := "run --first-seed 3501 --seeds 1000 --keep-going --max-failures 0 " +
			"--memory results/part-3 --continue --parallel 1\n"
		if string(out) != want || "exit status "+c.end != cmd.ProcessState.String() {
			t.Errorf("exit code %s: %s\n%s", c.tool, cmd.ProcessState, out)
		}
	}
}

// TestFuzzTargets: every fuzz target of the module is built for ClusterFuzzLite.
func TestFuzzTargets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".clusterfuzzlite", "build.sh"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command("git", "-C", root, "grep", "-hoE", "-n", "^func Fuzz[A-Za-z]+", "--",
		"*_test.go").Output()
	if err != nil {
		t.Skip("no repository: ", err)
	}
	targets := regexp.MustCompile(`Fuzz[A-Za-z]+`).FindAllString(string(list), -1)
	built := strings.Count(string(text), "\ncompile_native_go_fuzzer ")
	if built != len(targets) || built == 0 {
		t.Errorf("build.sh builds %d of %d fuzz targets: %v", built, len(targets), targets)
	}
	for _, m := range regexp.MustCompile(`\$module(/\S+) (Fuzz\S+)`).FindAllSubmatch(text, -1) {
		files, err := filepath.Glob(filepath.Join(root, string(m[1]), "*_test.go"))
		if err != nil || !anyHas(t, files, "func "+string(m[2])+"(") {
			t.Errorf("%s has no target %s (%v)", m[1], m[2], err)
		}
	}
}

func anyHas(t *testing.T, files []string, text string) bool {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	return false
}
