package knownbugs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/ci/knownbugs"
)

// TestEveryPatchBuilds shows that each known bug still applies and compiles; whether it is found is the gate's matter.
func TestEveryPatchBuilds(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bugs, err := knownbugs.Load("bugs")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		t.Run(b.Name, func(t *testing.T) {
			overlay, err := b.Overlay(root, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			build := exec.Command("go", "build", "-overlay", overlay, "-o", os.DevNull, "./cmd/shardproof")
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("the patched system does not compile: %v\n%s", err, out)
			}
		})
	}
}

// TestStalePatch shows that a patch whose place has changed is refused.
func TestStalePatch(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "bugs", "stale")
	write(t, filepath.Join(folder, "about.txt"), "hazard: H-00\ntitle: A patch that fits nothing.\nseeds: 1\n")
	write(t, filepath.Join(folder, "bug.patch"), "diff --git a/f.go b/f.go\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-package old\n+package new\n")
	write(t, filepath.Join(dir, "f.go"), "package other\n")
	bugs, err := knownbugs.Load(filepath.Join(dir, "bugs"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = bugs[0].Overlay(dir, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no longer applies to f.go") {
		t.Fatalf("got %v, want a refusal that names f.go", err)
	}
}

// TestAboutErrors shows what a mistake in about.txt looks like to its writer.
func TestAboutErrors(t *testing.T) {
	for text, want := range map[string]string{
		"title: x\nseeds: many\n":     "about.txt:2:",
		"nonsense\n":                  "about.txt:1:",
		"hazard: H-01\ntitle: x\n":    "needs a title and a budget",
		"title: x\nbudget: 3 seeds\n": "about.txt:2:",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "b", "about.txt"), text)
		if _, err := knownbugs.Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("about.txt %q: got %v, want %q", text, err, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
