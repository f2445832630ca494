package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

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
