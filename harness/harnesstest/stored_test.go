package harnesstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/example/kvtarget"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// TestMigrations is what TestFailuresAreStored runs in another process: it fails, since ranges that
// moved away are not deleted before the time is up.
func TestMigrations(t *testing.T) {
	mayFail(t)
	Check(t, Suite{Profile: smallProfile(t), Seeds: 1, Change: func(s *scenario.Scenario) {
		s.Set(scenario.Setting{Name: "orphanCleanupDelaySecs", Value: "10h"})
	}})
}

// TestMovements is another one: its store forgets changes if a message is lost.
func TestMovements(t *testing.T) {
	mayFail(t)
	t.Run("a.b", func(t *testing.T) {
		Sweep(t, SweepSuite{
			Targets:  target.Set{kvtarget.Target{ForgetsChanges: true}},
			Scenario: kvtarget.Base("kvstore-forgetful", 1),
		})
	})
}

func mayFail(t *testing.T) {
	t.Helper()
	if os.Getenv("SHARDPROOF_FAILS") == "" {
		t.Skip("it fails, and is run by TestFailuresAreStored")
	}
}

var (
	printedCommand = regexp.MustCompile(`Replay +go test -run '(.*)' (\S+)\n`)
	printedFolder  = regexp.MustCompile(`(?m)^ *FAIL .* (/\S+)$`)
)

// TestFailuresAreStored has a test fail, looks for what it says that it has kept, runs the command
// that it prints as it is printed, and runs the test again: what failed is run first.
func TestFailuresAreStored(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for test, c := range map[string]struct{ name, again string }{
		"TestMigrations": {"TestMigrations", "seed=1"},
		"TestMovements":  {"TestMovements/a.b", "fault="},
	} {
		t.Run(test, func(t *testing.T) {
			folder := t.TempDir()
			run := func(args ...string) string {
				cmd := exec.Command(program, args...)
				cmd.Dir = folder
				cmd.Env = append(os.Environ(), "SHARDPROOF_FAILS=1", "TMPDIR="+folder)
				out, err := cmd.CombinedOutput()
				if err == nil {
					t.Fatalf("%v passes:\n%s", args, out)
				}
				return string(out)
			}
			first := run("-test.run", "^"+test+"$", "-test.v")
			stored, err := filepath.Glob(filepath.Join(folder, storedIn(c.name), "*.txt"))
			if err != nil || len(stored) == 0 {
				t.Fatalf("no scenario was stored, %v:\n%s", err, first)
			}
			for _, kept := range printedFolder.FindAllStringSubmatch(first, -1) {
				if _, err := os.Stat(filepath.Join(kept[1], rundir.ScenarioFile)); err != nil {
					t.Errorf("the printed folder is gone: %v", err)
				}
			}
			command := printedCommand.FindStringSubmatch(first)
			if command == nil || !printedFolder.MatchString(first) {
				t.Fatalf("no command or no folder is printed:\n%s", first)
			}
			one := run("-test.run", command[1], command[2])
			if !printedCommand.MatchString(one) || strings.Contains(one, "stored=") {
				t.Errorf("the printed command runs something else:\n%s", one)
			}
			again := run("-test.run", "^"+test+"$", "-test.v")
			if at, planned := strings.Index(again, "stored="), strings.Index(again, c.again); at < 0 ||
				at > planned {
				t.Errorf("what was stored is not run first:\n%s", again)
			}
		})
	}
}
