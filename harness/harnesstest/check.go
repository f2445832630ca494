// Package harnesstest runs scenarios as Go tests: Check runs seeds, Sweep every fault that could
// hit a small scenario. It is the only package of the harness that imports testing, and it adds the
// flags -shardproof.seed, -shardproof.seeds and -shardproof.replay to the test binary.
//
// Stable are all names in this package.
//
// Promise: a failing run is kept where it can still be looked at when the test has ended, and
// explained with the command that repeats it.
//
// Refusal: it judges nothing; what fails here fails on the command line, too.
package harnesstest

import (
	"flag"
	"fmt"
	"os" //shardproof:allow import a test may be told to replay a file; the run itself sees none
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// The flags of every test binary that uses Check. They say what to run instead of what the test
// would.
var (
	seedFlag   = flag.Uint64("shardproof.seed", 0, "run this seed only; 0: the test's own seeds")
	seedsFlag  = flag.Int("shardproof.seeds", 0, "run this many seeds; 0: as many as the test says")
	replayFlag = flag.String("shardproof.replay", "",
		"run this scenario file, or the scenario of this saved run, only")
)

// Suite is what Check runs.
type Suite struct {
	// Targets are the systems that scenarios may name; none: the sharded store. Seeds are drawn for
	// the first.
	Targets target.Set
	// Profile draws the scenarios of the sharded store; the zero Profile mixes all.
	Profile generate.Profile
	// First is the first seed, Seeds how many. Zero: 1 and 20.
	First uint64
	Seeds int
	// Change, when set, is applied to every drawn scenario: other operations, other settings, a
	// fault to look at.
	Change func(*scenario.Scenario)
	// Folder is where failing runs are kept; empty: the test's artefact folder with go test
	// -artifacts, else a new folder for temporary files, which stays.
	Folder string
}

// Check runs the suite's seeds as sub-tests and fails with the failure block of those that do not
// pass.
//
//	func TestMigrations(t *testing.T) {
//		harnesstest.Check(t, harnesstest.Suite{Seeds: 50})
//	}
//
// The scenario of a seed that fails is stored below testdata/shardproof of the test's package, to
// be committed; every later run of the test begins with those that are there.
//
// go test -run '^TestMigrations$' -shardproof.seed=7 runs one seed, -shardproof.seeds=1000 runs
// more, and -shardproof.replay=FILE runs a scenario that was saved or edited.
func Check(t *testing.T, suite Suite) {
	t.Helper()
	if *replayFlag != "" {
		checkFile(t, suite, *replayFlag)
		return
	}
	first, seeds := max(suite.First, 1), suite.Seeds
	if seeds == 0 {
		seeds = 20
	}
	if *seedsFlag > 0 {
		seeds = *seedsFlag
	}
	if *seedFlag > 0 {
		first, seeds = *seedFlag, 1
	}
	if *seedFlag == 0 {
		suite.again(t)
	}
	name := t.Name()
	for seed := first; seed < first+uint64(seeds); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			s := suite.draw(seed)
			suite.check(t, s, failure{
				test: name, flag: fmt.Sprintf("seed=%d", seed), stored: storedIn(name),
			})
		})
	}
}

// storedIn is the folder, in that of the test's package, in which scenarios that have failed are
// kept for good.
func storedIn(test string) string {
	return filepath.Join("testdata", "shardproof", filepath.FromSlash(test))
}

// again runs what has failed before, as a sub-test each.
func (suite *Suite) again(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(storedIn(t.Name()), "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	name := t.Name()
	for _, file := range files {
		t.Run("stored="+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := suite.read(t, file)
			suite.check(t, s, failure{test: name, flag: "replay=" + file})
		})
	}
}

func (suite *Suite) targets() target.Set {
	if len(suite.Targets) == 0 {
		return harness.Targets()
	}
	return suite.Targets
}

func (suite *Suite) options() runner.Options { return runner.Options{Targets: suite.targets()} }

func (suite *Suite) draw(seed uint64) *scenario.Scenario {
	var s *scenario.Scenario
	switch own := suite.targets()[0].Describe().Draw; {
	case own != nil:
		s = own(seed)
	case suite.Profile.Name != "":
		s = generate.Draw(seed, suite.Profile)
	default:
		s = generate.Mixed(seed)
	}
	if suite.Change != nil {
		suite.Change(s)
	}
	return s
}

func checkFile(t *testing.T, suite Suite, file string) {
	t.Helper()
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, rundir.ScenarioFile)
	}
	suite.check(t, suite.read(t, file), failure{test: t.Name(), flag: "replay=" + file})
}

func (suite *Suite) read(t *testing.T, file string) *scenario.Scenario {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := runner.Parse(suite.targets(), file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
