package determinism_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/shardproof/shardproof/ci/determinism"
)

// TestCatches shows that the analyzer sees each kind of violation, and leaves the allowed forms
// alone.
func TestCatches(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), determinism.Analyzer, "world")
}

// simulated lists the folders whose code runs inside a world. The exceptions are where the wall
// clock lives.
var simulated = []string{"system", "faults", "workloads", "checkers", "harness"}

var real = []string{
	"system/live", "harness/campaign", "harness/parallel", "harness/rundir", "harness/failuredb",
	"harness/live", "harness/overview",
}

// fronts are packages that meet the real world themselves; what lies in their folders does not.
var fronts = []string{"system/wire", "system/wire/wiretest"}

// TestTree holds the whole project to the rules.
func TestTree(t *testing.T) {
	const mode = packages.LoadAllSyntax
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: "../.."}, patterns()...)
	if err != nil {
		t.Fatal(err)
	}
	var check []*packages.Package
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Errorf("%s does not load: %v", p.PkgPath, e)
		}
		if !exempt(p.PkgPath) {
			check = append(check, p)
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{determinism.Analyzer}, check, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range graph.Roots {
		for _, d := range root.Diagnostics {
			t.Errorf("%s: %s", root.Package.Fset.Position(d.Pos), d.Message)
		}
	}
}

func patterns() []string {
	var all []string
	for _, dir := range simulated {
		all = append(all, fmt.Sprintf("./%s/...", dir))
	}
	return all
}

func exempt(path string) bool {
	path = strings.TrimPrefix(path, "github.com/shardproof/shardproof/")
	if slices.Contains(fronts, path) {
		return true
	}
	for _, r := range real {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}
