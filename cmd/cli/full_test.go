//go:build linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shardproof/shardproof/harness"
)

// TestFullDisk runs everything that keeps something on a disk that is full: whatever could not be
// kept is a clear error with the code of a harness that failed. It needs the right to mount.
func TestFullDisk(t *testing.T) {
	hasty := filepath.Join(t.TempDir(), "hasty.txt")
	if err := os.WriteFile(hasty, []byte(hastyScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"memory": {"run", "--profile", "sweep", "--seeds", "500", "--parallel", "2", "--memory"},
		"failures": {
			"run", "--profile", "sweep", "--seeds", "3", "--set",
			"orphanCleanupDelaySecs=10h", "--out",
		},
		"sweep":   {"sweep", "--runs", "2000", "migration", "--out"},
		"explore": {"explore", "--strategy", "random", "--runs", "200", "--out"},
		"shrink":  {"shrink", hasty, "--out"},
		"trace":   {"replay", "--profile", "sweep", "1", "--trace"},
		"cpu":     {"run", "--profile", "sweep", "--seeds", "1", "--cpuprofile"},
		"heap":    {"run", "--profile", "sweep", "--seeds", "1", "--memprofile"},
	} {
		t.Run(name, func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8k"); err != nil {
				t.Skip("no tmpfs: ", err)
			}
			defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }()
			if err := os.WriteFile(
				filepath.Join(disk, "taken"), make([]byte, 8192), 0o644,
			); err != nil {
				t.Fatal(err)
			}
			root := newRoot(harness.Targets())
			var out bytes.Buffer
			root.SetOut(&out)
			root.SetErr(&out)
			root.SetArgs(append(args, filepath.Join(disk, "kept")))
			want := exitHarness
			if name == "failures" {
				want = exitBroke // which outweighs that the run could not be kept
			}
			var end *exitError
			if err := root.ExecuteContext(context.Background()); !errors.As(err, &end) ||
				end.code != want {
				t.Fatalf("error %v, want exit code %d\n%s", err, want, &out)
			}
			if !strings.Contains(end.Error(), "no space left on device") {
				t.Errorf("the error does not say what is wrong: %v", end)
			}
		})
	}
}

// A broken promise outweighs results that could not be printed; nothing else does.
func TestUnwrittenResults(t *testing.T) {
	full := errors.New("no space left on device")
	for code, want := range map[int]int{
		exitPassed: exitHarness, exitUndecided: exitHarness, exitBroke: exitBroke,
	} {
		if got := endCode(exitWith(code), full); got != want {
			t.Errorf("code %d: got %d, want %d", code, got, want)
		}
	}
}
