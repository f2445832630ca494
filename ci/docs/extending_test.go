package docs

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// homes are the packages into which the recipes of docs/extending.md put their files, by name.
var homes = map[string]string{
	"checkers":   "checkers",
	"faults":     "faults",
	"opkind":     "histories/opkind",
	"oracle":     "checkers/oracle",
	"shardstore": "harness/shardstore",
	"workloads":  "workloads",
}

// TestRecipesCompile builds the packages with every file of the recipes in its place. The tree
// stays as it is.
func TestRecipesCompile(t *testing.T) {
	const page = "docs/extending.md"
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	replace := map[string]string{}
	build := []string{"build", "-overlay", filepath.Join(scratch, "overlay.json")}
	for _, b := range blocks(t, page, "go") {
		first, _, _ := strings.Cut(b.text, "\n")
		name, whole := strings.CutPrefix(first, "package ")
		if !whole {
			continue
		}
		home := homes[name]
		if home == "" {
			t.Errorf("%s:%d: the test does not know where package %s is", page, b.line, name)
			continue
		}
		file := fmt.Sprintf("example_at_%d.go", b.line)
		write(t, filepath.Join(scratch, file), b.text)
		replace[filepath.Join(top, filepath.FromSlash(home), file)] = filepath.Join(scratch, file)
		if at := "./" + home; !slices.Contains(build, at) {
			build = append(build, at)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, build[2], string(overlay))
	cmd := exec.Command("go", build...)
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", page, err, out)
	}
}
