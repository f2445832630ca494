package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/ci/knownbugs/shrunk"
	"github.com/shardproof/shardproof/histories/scenario"
)

// shrinkAll fills the table of what first failures come down to, one bug a core: what of it is
// there already stays, unless a single bug was asked for. The table is written again after every
// bug, so that it can be made in as many pieces as one likes.
func shrinkAll(bugs []knownbugs.Bug, o options, root, scratch string) (int, error) {
	j := &shrinking{
		root:    root,
		scratch: scratch,
		file:    filepath.Join(root, "ci", "knownbugs", "SHRUNK.md"),
	}
	var err error
	if j.table, err = shrunk.Read(j.file); err != nil {
		return exitFailed, err
	}
	missing := slices.DeleteFunc(slices.Clone(bugs), func(b knownbugs.Bug) bool {
		return o.only == "" && j.table.Has(b.Name)
	})
	if len(missing) > 0 {
		j.healthy, err = buildTool(&knownbugs.Bug{Name: "healthy"}, root,
			filepath.Join(scratch, "healthy"))
		if err != nil {
			return exitFailed, err
		}
	}
	err = eachBug(missing, j.row)
	if o.table != "" && len(j.finds) == len(bugs) {
		err = errors.Join(err, j.writeFinds(o.table))
	}
	switch {
	case errors.Is(err, errMissed):
		return exitMissed, err
	case err != nil:
		return exitFailed, err
	}
	return demandsKept(bugs, j.table)
}

// writeFinds writes how the bugs were found, as the gate itself does.
func (j *shrinking) writeFinds(file string) error {
	slices.SortFunc(j.finds, func(a, b find) int { return strings.Compare(a.bug.Name, b.bug.Name) })
	return keepTable(file, j.root, j.finds)
}

// demandsKept names the bugs whose rows break the demand.
func demandsKept(bugs []knownbugs.Bug, table *shrunk.Table) (int, error) {
	var all []error
	for _, row := range table.Rows() {
		for _, b := range bugs {
			if b.Name == row.Bug && !row.Kept() {
				all = append(all,
					fmt.Errorf("the first failure of %s is not made small as it should be: %s",
						row.Bug, row.Demand))
			}
		}
	}
	if len(all) > 0 {
		return exitMissed, errors.Join(all...)
	}
	return 0, nil
}

// errMissed says that there is no failure to make small.
var errMissed = errors.New("a known bug has no row")

// shrinking is the filling of the table in progress.
type shrinking struct {
	root, scratch, file string
	// healthy is the tool without any bug.
	healthy string

	mu    sync.Mutex
	table *shrunk.Table
	// finds are the first failures that were looked for, in the order in which that ended.
	finds []find
}

// row makes the row of a bug.
func (j *shrinking) row(b *knownbugs.Bug) error {
	row, err := j.bug(b)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Println(row.Line())
	j.table.Set(row)
	return j.table.Write(j.file)
}

// bug finds a bug's first failure, makes it small and replays what is left.
func (j *shrinking) bug(b *knownbugs.Bug) (row shrunk.Row, err error) {
	folder := filepath.Join(j.scratch, b.Name)
	tool, err := buildTool(b, j.root, folder)
	if err != nil {
		return row, err
	}
	defer os.RemoveAll(folder) // a build for each bug would fill the disk
	f := find{bug: b}
	if err := f.look(tool, filepath.Join(folder, "out")); err != nil {
		return row, err
	}
	j.mu.Lock()
	j.finds = append(j.finds, f)
	j.mu.Unlock()
	if f.folder == "" {
		return row, fmt.Errorf("%w: %s: %s", errMissed, b.Name, f.missed)
	}
	row = shrunk.Row{
		Bug:       b.Name,
		Seed:      f.seed,
		Signature: strings.TrimSuffix(filepath.Base(f.folder), fmt.Sprintf("-%d", f.seed)),
	}
	s := &smallFailure{Row: row, tool: tool, healthy: j.healthy, from: f.folder, folder: folder}
	for _, step := range []func() error{s.count, s.shrink, s.again} {
		if err := step(); err != nil {
			return row, fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	return s.Row, nil
}

// smallFailure is one failure on its way to being small.
type smallFailure struct {
	shrunk.Row
	// tool is the build with the bug, healthy that without; from holds the failure's run, folder
	// what is made of it.
	tool, healthy, from, folder string
}

// count counts what the failure consists of as it was found, with what chance decided written out.
func (s *smallFailure) count() (err error) {
	plan := filepath.Join(s.folder, "plan.txt")
	if _, err := runTool(s.tool, "replay", "--write-scenario", plan, s.from); err != nil {
		return err
	}
	s.Before, err = sizesOf(plan)
	return err
}

func sizesOf(file string) (sizes shrunk.Sizes, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return sizes, err
	}
	parsed, err := scenario.Parse(file, string(text))
	if err != nil {
		return sizes, err
	}
	return shrunk.Of(parsed)
}

// wrapUp is what a search needs to tell what it has found.
const wrapUp = 5 * time.Second

var runsTried = regexp.MustCompile(`(?m)^  Search +([0-9,]+) runs`)

// shrink makes the failure small in the time that there is.
func (s *smallFailure) shrink() error {
	t, err := runTool(s.tool, "shrink", "--cpu", (shrunk.MostSeconds*time.Second - wrapUp).String(),
		"--parallel", "1", "--out", s.out(), s.from)
	if err != nil {
		return err
	}
	s.Seconds = t.cpu.Seconds()
	runs := runsTried.FindSubmatch(t.text)
	if runs == nil {
		return fmt.Errorf("shrink says not how many runs it made:\n%s", t.text)
	}
	if s.Runs, err = strconv.Atoi(strings.ReplaceAll(string(runs[1]), ",", "")); err != nil {
		return err
	}
	s.After, err = sizesOf(s.smallest())
	return err
}

func (s *smallFailure) out() string      { return filepath.Join(s.folder, "min") }
func (s *smallFailure) smallest() string { return filepath.Join(s.out(), "min.txt") }

// again replays the smallest scenario with the bug, twice, and without it, and judges.
func (s *smallFailure) again() error {
	var traces [2][]byte
	var failed [2]string
	for i := range traces {
		file := filepath.Join(s.folder, fmt.Sprintf("trace-%d", i))
		t, err := runTool(s.tool, "replay", "--trace", file, s.smallest())
		if err != nil {
			return err
		}
		failed[i] = t.signature()
		if traces[i], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	t, err := runTool(s.healthy, "replay", s.smallest())
	if err != nil {
		return err
	}
	s.Judge(shrunk.Replays{
		Signature: failed[0],
		Same: failed[0] == failed[1] && len(traces[0]) > 0 &&
			bytes.Equal(traces[0], traces[1]),
		Passes: t.passed(),
	})
	return nil
}

// toolOutput is what a run of the tool has said.
type toolOutput struct {
	text []byte
	cpu  time.Duration
	code int
}

// runTool runs the tool. Verdicts, and a search that was cut short, are no errors.
func runTool(tool string, args ...string) (toolOutput, error) {
	cmd := exec.Command(tool, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return toolOutput{}, err
	}
	t := toolOutput{
		text: text,
		code: cmd.ProcessState.ExitCode(),
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}
	if t.code < 0 || t.code > 2 {
		return t, fmt.Errorf("shardproof %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return t, nil
}

// passed says whether the replay held.
func (t toolOutput) passed() bool { return t.code == 0 && bytes.HasPrefix(t.text, []byte("PASS ")) }

var failureLine = regexp.MustCompile(`^[A-Z]+  (\S+)   seed `)

// signature is that of a replay that failed; empty for one that passed.
func (t toolOutput) signature() string {
	if m := failureLine.FindSubmatch(t.text); m != nil && t.code != 0 {
		return string(m[1])
	}
	return ""
}
