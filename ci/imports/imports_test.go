// Package imports holds the package graph: which package may import which.
//
// Promise: every import between packages is a line of graph.golden, so that a reviewer sees a new
// one.
//
// Refusal: it does not judge whether an import is right.
package imports

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var rewrite = flag.Bool("rewrite", false, "write graph.golden from the code as it is")

const module = "github.com/shardproof/shardproof/"

// TestGraph compares the arrows between the project's packages with the golden file.
func TestGraph(t *testing.T) {
	got := graph(t)
	if *rewrite {
		if os.Getenv("CI") != "" {
			t.Fatal(
				"refusing to rewrite graph.golden in CI: run `go test ./ci/imports -rewrite` at " +
					"your desk and review the change",
			)
		}
		if err := os.WriteFile("graph.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("graph.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf(
			"the package graph changed; if it is meant to, run `go test ./ci/imports -rewrite` "+
				"and have it reviewed.\n%s", diff(string(want), got),
		)
	}
}

// rigs are the packages with which tests lead clusters through scripts, and serve clients from a
// simulated cluster. Only tests import them, and what runs tests in ci; the graph is that of the
// code which is no test.
var rigs = []string{"system/protocoltest", "system/wire/wiretest"}

// TestArrowsGoDown checks the floors of the house, whatever the golden file says.
func TestArrowsGoDown(t *testing.T) {
	forbidden := map[string][]string{
		"histories": {"system", "faults", "checkers", "workloads", "harness", "cmd", "ci"},
		"system":    {"faults", "checkers", "workloads", "harness", "cmd", "ci"},
		"checkers":  {"system", "faults", "workloads", "harness", "cmd", "ci"},
		"workloads": {"system", "faults", "checkers", "harness", "cmd", "ci"},
		"faults":    {"checkers", "workloads", "harness", "cmd", "ci"},
		"harness":   {"cmd", "ci"},
	}
	for line := range strings.Lines(graph(t)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if slices.Contains(forbidden[floor(from)], floor(to)) {
			t.Errorf("%s imports %s: arrows go down only", from, to)
		}
		if floor(from) == "system" && to == "system/sim" && !slices.Contains(rigs, from) {
			t.Errorf("%s imports system/sim: code of the store sees env only", from)
		}
		if slices.Contains(rigs, to) && floor(from) != "ci" {
			t.Errorf("%s imports %s outside of its tests: that is a rig of tests", from, to)
		}
		known := slices.Contains([]string{
			"histories/trace", "histories/keyed", "histories/packed",
		}, to)
		if floor(from) == "system" && floor(to) == "histories" && !known {
			t.Errorf("%s imports %s: the store knows events and numbers, not histories", from, to)
		}
	}
}

func floor(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

func graph(t *testing.T) string {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports,
		Dir:  "../..",
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	var arrows []string
	for _, p := range loaded {
		for path := range p.Imports {
			if to, ok := strings.CutPrefix(path, module); ok {
				arrows = append(arrows,
					fmt.Sprintf("%s -> %s\n", strings.TrimPrefix(p.PkgPath, module), to))
			}
		}
	}
	slices.Sort(arrows)
	return strings.Join(arrows, "")
}

func diff(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, l := range w {
		if !slices.Contains(g, l) {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			fmt.Fprintf(&b, "+ %s\n", l)
		}
	}
	return b.String()
}
