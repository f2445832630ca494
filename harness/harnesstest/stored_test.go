package harnesstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
)

// TestMigrations is what TestFailuresAreStored runs in another process: it fails, since ranges that
// moved away are not deleted before the time is up.
func TestMigrations(t *testing.T) {
	if os.Getenv("SHARDPROOF_FAILS") == "" {
		t.Skip("it fails, and is run by TestFailuresAreStored")
	}
	Check(t, Suite{Profile: smallProfile(t), Seeds: 1, Change: func(s *scenario.Scenario) {
		s.Set(scenario.Setting{Name: "orphanCleanupDelaySecs", Value: "10h"})
	}})
}

// TestFailuresAreStored has a test fail, runs the command that it prints as it is printed, and runs
// the test again: what failed is run first.
func TestFailuresAreStored(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	run := func(args ...string) string {
		c := exec.Command(program, args...)
		c.Dir, c.Env = folder, append(os.Environ(), "SHARDPROOF_FAILS=1")
		out, err := c.CombinedOutput()
		if err == nil {
			t.Fatalf("%v passes:\n%s", args, out)
		}
		return string(out)
	}
	first := run("-test.run", "^TestMigrations$", "-test.v")
	stored, err := filepath.Glob(filepath.Join(folder, storedIn("TestMigrations"), "*.txt"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("%d scenarios were stored, %v:\n%s", len(stored), err, first)
	}
	_, printed, found := strings.Cut(first, "go test -run '")
	pattern, rest, quoted := strings.Cut(printed, "' ")
	flag, _, _ := strings.Cut(rest, "\n")
	if !found || !quoted {
		t.Fatalf("no command is printed:\n%s", first)
	}
	one := run("-test.run", pattern, strings.TrimSpace(flag))
	if !strings.Contains(one, "seed=1") || strings.Contains(one, "stored=") {
		t.Errorf("the printed command runs something else:\n%s", one)
	}
	again := run("-test.run", "^TestMigrations$", "-test.v")
	if at, seed := strings.Index(again, "stored="), strings.Index(again, "seed=1"); at < 0 ||
		at > seed {
		t.Errorf("what was stored is not run first:\n%s", again)
	}
}
