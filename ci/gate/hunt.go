package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardproof/shardproof/ci/knownbugs"
)

// find is how one known bug was met.
type find struct {
	bug    *knownbugs.Bug
	seed   int
	seen   []string // every checker that reported it, the leading one first
	cpu    time.Duration
	missed string // why it does not count
	folder string // where its run is kept
}

const tableHeader = "known bug                       seed  CPU s  seen by"

func (f *find) row() string {
	if f.missed != "" {
		return fmt.Sprintf("%-30s  MISSED: %s", f.bug.Name, f.missed)
	}
	return fmt.Sprintf("%-30s  %4d  %5.1f  %s",
		f.bug.Name, f.seed, f.cpu.Seconds(), strings.Join(f.seen, ", "))
}

// outcome is what came of the hunt for one bug.
type outcome struct {
	find
	err error
}

// huntAll hunts as many bugs at a time as there are cores, in their order. Channel i gets what came
// of bug i.
func huntAll(bugs []knownbugs.Bug, root, scratch string) []chan outcome {
	outcomes := make([]chan outcome, len(bugs))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for i := next.Add(1) - 1; int(i) < len(bugs); i = next.Add(1) - 1 {
				f, err := huntBug(&bugs[i], root, filepath.Join(scratch, bugs[i].Name))
				outcomes[i] <- outcome{f, err}
			}
		}()
	}
	return outcomes
}

// eachBug does something about every bug, about as many at a time as there are cores, and joins
// what went wrong.
func eachBug(bugs []knownbugs.Bug, do func(b *knownbugs.Bug) error) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make([]error, len(bugs))
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(bugs); i = next.Add(1) - 1 {
				errs[i] = do(&bugs[i])
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// huntBug runs the campaign on a build with the bug until it is found or the budget is spent.
func huntBug(b *knownbugs.Bug, root, scratch string) (find, error) {
	f := find{bug: b}
	tool, err := buildTool(b, root, scratch)
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(scratch) // a build for each bug would fill the disk
	return f, f.look(tool, filepath.Join(scratch, "out"))
}

// look has the tool look for the first failure, which is kept in a folder of out.
func (f *find) look(tool, out string) error {
	b := f.bug
	args := []string{"run", "--seeds", fmt.Sprint(b.Seeds), "--again", "0"}
	if b.Race != "" {
		args = []string{"sweep", "race", "--activities", b.Race, "--max", fmt.Sprint(b.Seeds)}
	}
	cmd := exec.Command(tool, append(args, "--parallel", "1", "--out", out)...)
	text, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ok || exit.ExitCode() != 1) {
		return fmt.Errorf("the build with %s did not run as it should: %w\n%s", b.Name, err, text)
	}
	f.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err == nil {
		f.missed = fmt.Sprintf("not found in %d runs", b.Seeds)
		return nil
	}
	return f.read(out)
}

func buildTool(b *knownbugs.Bug, root, scratch string) (string, error) {
	tool := filepath.Join(scratch, "shardproof")
	return tool, buildToolAt(b, root, scratch, tool)
}

// buildToolAt builds the tool with the bug at a path.
func buildToolAt(b *knownbugs.Bug, root, scratch, tool string) error {
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	overlay, err := b.Overlay(root, scratch)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay,
		"-ldflags=-s -w", // nobody debugs it, and linking is a fifth of the time
		"-o", tool, "./cmd/shardproof")
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the system with %s does not compile: %w\n%s", b.Name, err, text)
	}
	return nil
}

// read takes the earliest seed's verdict from the folder in which the tool kept the failing runs.
func (f *find) read(out string) error {
	files, err := filepath.Glob(filepath.Join(out, "*", "verdict.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s failed, but %s holds no verdict (%v)", f.bug.Name, out, err)
	}
	for _, file := range files {
		if err := f.take(file); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(
		f.seen, func(checker string) bool { return slices.Contains(f.bug.Seen, checker) },
	) {
		f.missed = fmt.Sprintf("seen by %s, expected one of %s",
			strings.Join(f.seen, ", "), strings.Join(f.bug.Seen, ", "))
	}
	return nil
}

func (f *find) take(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var v struct {
		Verdict []struct{ Checker, Outcome string }
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	folder := filepath.Base(filepath.Dir(file))
	seed := 0
	if _, err := fmt.Sscanf(
		folder[strings.LastIndexByte(folder, '-')+1:], "%d", &seed,
	); err != nil {
		return fmt.Errorf("%s: the folder's name ends in no seed", file)
	}
	if f.seed != 0 && f.seed <= seed {
		return nil
	}
	f.seed, f.seen, f.folder = seed, nil, filepath.Dir(file)
	for _, one := range v.Verdict {
		if one.Outcome == "fail" {
			f.seen = append(f.seen, one.Checker)
		}
	}
	return nil
}
