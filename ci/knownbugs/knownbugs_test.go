package knownbugs_test

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/ci/knownbugs"
)

// TestEveryPatchCompiles shows that each known bug still applies and that the packages it changes
// still type-check; whether it is found is the gate's matter, which builds it as a whole.
func TestEveryPatchCompiles(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bugs, err := knownbugs.Load("bugs")
	if err != nil {
		t.Fatal(err)
	}
	deps := imports(t, root)
	for _, b := range bugs {
		t.Run(b.Name, func(t *testing.T) {
			overlay, err := b.Overlay(root, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			changed := replacements(t, overlay)
			for _, dir := range folders(changed) {
				check(t, dir, changed, deps)
			}
		})
	}
}

// imports reads packages as the compiler has left them.
func imports(t *testing.T, root string) types.Importer {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}",
		"./system/...")
	list.Dir = root
	text, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exported := map[string]string{}
	for line := range strings.Lines(string(text)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exported[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exported[path])
	})
}

func replacements(t *testing.T, overlay string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o.Replace
}

// folders are those of the changed files.
func folders(changed map[string]string) []string {
	dirs := map[string]bool{}
	for file := range changed {
		dirs[filepath.Dir(file)] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}

func check(t *testing.T, dir string, changed map[string]string, deps types.Importer) {
	t.Helper()
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(dir, name)
		if instead, ok := changed[path]; ok {
			path = instead
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: deps, Error: func(err error) { t.Error(err) }}
	_, _ = conf.Check(dir, fset, files, nil)
}

// TestStalePatch shows that a patch whose place has changed is refused.
func TestStalePatch(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "bugs", "stale")
	write(t, filepath.Join(folder, "about.txt"),
		"hazard: H-01\ntitle: A patch that fits nothing.\nseeds: 1\n")
	write(t, filepath.Join(folder, "bug.patch"),
		"diff --git a/f.go b/f.go\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-package old\n+package "+
			"new\n")
	write(t, filepath.Join(dir, "f.go"), "package other\n")
	bugs, err := knownbugs.Load(filepath.Join(dir, "bugs"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = bugs[0].Overlay(dir, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "no longer applies to f.go") {
		t.Fatalf("got %v, want a refusal that names f.go", err)
	}
}

// TestMovedPatch shows that a patch finds its place when lines were added before it.
func TestMovedPatch(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "bugs", "moved")
	write(t, filepath.Join(folder, "about.txt"),
		"hazard: H-01\ntitle: A patch whose file has grown.\nseeds: 1\n")
	write(t, filepath.Join(folder, "bug.patch"),
		"diff --git a/f.go b/f.go\n--- a/f.go\n+++ b/f.go\n@@ -1,2 +1,2 @@\n package old\n-var a "+
			"int\n+var b int\n")
	write(t, filepath.Join(dir, "f.go"), "// One line\n// and another.\npackage old\nvar a int\n")
	bugs, err := knownbugs.Load(filepath.Join(dir, "bugs"))
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	if _, err := bugs[0].Overlay(dir, scratch); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(scratch, "0-f.go"))
	if want := "// One line\n// and another.\npackage old\nvar b int\n"; err != nil ||
		string(got) != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
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
