package imports

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const (
	mostFiles   = 30
	mostImports = 20
)

// catalogs have one file for each of their entries.
var catalogs = []string{"faults", "workloads", "checkers"}

// crowded are packages that import more than others may: a cluster is put together of everything
// that a server has.
var crowded = []string{"system", "harness/shardstore"}

// TestPackagesAreSmall holds every package to so many files, tests apart, and so many imports of
// the project's own.
func TestPackagesAreSmall(t *testing.T) {
	for _, p := range ownPackages(t) {
		path := strings.TrimPrefix(p.PkgPath, module)
		if n := len(p.GoFiles); n > mostFiles && !slices.Contains(catalogs, path) {
			t.Errorf("%s has %d files; %d is the most: one package, one idea", path, n, mostFiles)
		}
		own := 0
		for to := range p.Imports {
			if strings.HasPrefix(to, module) {
				own++
			}
		}
		if own > mostImports && !slices.Contains(crowded, path) {
			t.Errorf("%s imports %d packages of the project; %d is the most",
				path, own, mostImports)
		}
	}
}

// testers are there for tests: the API for those of users, and the rig for the store's own.
var testers = []string{
	"harness/harnesstest", "system/protocoltest", "system/env/envtest", "cmd/scripttest",
}

// TestTestingStaysOut: nothing but what is there for tests puts the testing package, and its flags,
// into a program.
func TestTestingStaysOut(t *testing.T) {
	for _, p := range ownPackages(t) {
		for _, tester := range testers {
			if p.PkgPath != module+tester && p.Imports[module+tester] != nil {
				t.Errorf("%s imports %s, which is for tests", p.PkgPath, tester)
			}
		}
		if p.Imports["testing"] != nil &&
			!slices.Contains(testers, strings.TrimPrefix(p.PkgPath, module)) {
			t.Errorf(
				"%s imports testing: helpers of tests are for harness/harnesstest or for "+
					"_test.go files", p.PkgPath,
			)
		}
	}
}

// floors of the harness, the lowest first. A package imports only what is on a floor below its own.
var floors = [][]string{
	{
		"target", "parallel", "rundir", "debugger/timeline", "example/kvstore", "activity",
		"shardstore/replies", "shardstore/held", "shardstore/disks", "shardstore/leading",
		"shardstore/merges", "shardstore/doubts", "shardstore/sums", "shardstore/tails",
		"shardstore/reach", "shardstore/timed", "shardstore/preference", "shardstore/logs",
		"shardstore/placements", "shardstore/committed", "shardstore/scans", "shardstore/mistakes",
		"attack", "live/proxy",
	},
	{"runner", "failuredb", "shardstore", "example/kvtarget", "live", "generate/aimed"},
	{"generate", "generate/rapidscenario", "sweep", "campaign", "explain", "live/mongodb",
		"live/processes"},
	{"search", "shrink", "debugger", "race"},
	{"report"},
	{"overview"},
	{""},
	{"harnesstest"},
}

// TestHarnessHasFloors: inside the harness, too, arrows go down only, from the front door to the
// runner.
func TestHarnessHasFloors(t *testing.T) {
	floorOf := func(path string) int {
		rel := strings.TrimPrefix(strings.TrimPrefix(path, "harness"), "/")
		return slices.IndexFunc(floors, func(f []string) bool { return slices.Contains(f, rel) })
	}
	homeless := map[string]bool{}
	for line := range strings.Lines(graph(t)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if floor(from) != "harness" {
			continue
		}
		if floorOf(from) < 0 && !homeless[from] {
			homeless[from] = true
			t.Errorf("%s is on no floor: put it on one in this test", from)
		}
		if floor(to) == "harness" && floorOf(to) >= floorOf(from) {
			t.Errorf("%s imports %s, which is not below it", from, to)
		}
	}
}

func ownPackages(t *testing.T) []*packages.Package {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	need := packages.NeedName | packages.NeedImports | packages.NeedFiles
	all, err := packages.Load(&packages.Config{Mode: need, Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
