package harnesstest

import (
	"flag"
	"fmt"
	"os" //shardproof:allow import a failing run is kept in files; the run itself sees none
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
)

// failure is how to come back to a scenario if it fails.
type failure struct {
	// test is the test that runs it again, flag what it is told, without "-shardproof."; empty: to
	// replay what is stored.
	test, flag string
	// stored is the folder in which the scenario is kept for good; empty: it is there already.
	stored string
}

// command is what to type. A part of the pattern is for a part of the test's name.
func (f *failure) command() string {
	parts := strings.Split(f.test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return fmt.Sprintf("go test -run '%s' -shardproof.%s", strings.Join(parts, "/"), f.flag)
}

// check runs one scenario, and once more with everything recorded when it fails.
func (suite *Suite) check(t *testing.T, s *scenario.Scenario, f failure) {
	t.Helper()
	r, err := harness.Run(s, suite.options())
	if err != nil {
		t.Fatal(err)
	}
	if r.Passed() {
		return
	}
	folder := filepath.Join(suite.folder(t), fmt.Sprintf("%s-%d", r.Signature(), s.Seed))
	kept, err := harness.RunAndSave(s, suite.options(), folder, rundir.Environment{})
	if err != nil {
		t.Logf("the failing run was not saved: %v", err)
	}
	if f.stored != "" {
		if file, err := store(kept, f.stored); err != nil {
			t.Logf("the failing scenario was not stored: %v", err)
		} else {
			t.Logf("stored as %s; every later run of the test begins with it, until it is deleted",
				file)
			if f.flag == "" {
				f.flag = "replay=" + file
			}
		}
	}
	if f.flag == "" {
		f.flag = "replay=" + folder
	}
	t.Attr("shardproof.replay", f.command())
	where := explain.Where{Folder: folder, Replay: []string{f.command()}}
	if len(suite.Targets) == 0 {
		where.Shrink = []string{
			"shardproof shrink " + folder, "with a shardproof that is built of the same code",
		}
	}
	t.Fatal("\n" + explain.Report(kept, where))
}

// store writes the plan of a failing run into a new file.
func store(r *runner.Result, folder string) (file string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	file = filepath.Join(folder, fmt.Sprintf("%s-%d-%s.txt", r.Signature(), r.Scenario.Seed,
		r.HashText()))
	return file, rundir.Replace(file, []byte(r.Plan().String()))
}

// folder is where a failing run is kept. Without -artifacts, that of the test is gone when the test
// has ended, and so are those that t.TempDir makes.
func (suite *Suite) folder(t *testing.T) string {
	if suite.Folder != "" {
		return suite.Folder
	}
	if kept := flag.Lookup("test.artifacts"); kept != nil && kept.Value.String() == "true" {
		return t.ArtifactDir()
	}
	folder, err := os.MkdirTemp("", "shardproof-")
	if err != nil {
		t.Logf("the failing run is lost when the test ends: %v", err)
		return t.ArtifactDir()
	}
	return folder
}
