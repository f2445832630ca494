// Package trial puts mutants to the test: it runs a plan's commands on the program with one mutant
// on, cheap commands first, until one notices, and keeps what came of it.
//
// It depends on the command line of the program alone: exit code 0 passed, 1 a promise broke (with
// verdict.json below the folder of the command), 2 undecided, 3 a replay diverged, 4 the harness
// failed; on what tests of Go print when they fail; and on the files that package active writes.
//
// Promise: every trial is a process of its own with bounds on CPU time and memory; the state is
// written atomically, so that a killed campaign loses the trials in progress at most; the sample
// follows from a seed. A command that reaches no mutant without it on cannot be changed by it, for
// runs are deterministic, and is not run. Refusal: a timeout, an undecided run and a failure of the
// harness itself are not kills.
package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Unit is one command of a plan.
type Unit struct {
	Stage string
	// One says that the command makes a single run: when that takes many times its CPU time it
	// hangs. A command with many runs that takes too long is only too slow.
	One bool
	// Args are the arguments of the program. The word {out} stands for a fresh folder. Behind the
	// word "test" they are a package and the flags of its tests instead.
	Args []string
}

// test is the word that begins a command which runs the tests of a package.
const test = "test"

// Package is the package whose tests the command runs, or empty when it runs the program.
func (u Unit) Package() string {
	if len(u.Args) > 1 && u.Args[0] == test {
		return u.Args[1]
	}
	return ""
}

// Packages are those whose tests the plan runs.
func Packages(plan []Unit) (all []string) {
	for _, u := range plan {
		if p := u.Package(); p != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// String is the command as it is written in a plan.
func (u Unit) String() string { return strings.Join(u.Args, " ") }

// ReadPlan reads a plan: a line is a stage, "one" or "many", and a command. A pattern of files
// makes a unit of each file. Paths are below root.
func ReadPlan(path, root string) ([]Unit, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []Unit
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 3 || words[1] != "one" && words[1] != "many" {
			return nil, fmt.Errorf("%s:%d: %q is not a stage, one or many, and a command",
				path, i+1, line)
		}
		units, err := expand(Unit{Stage: words[0], One: words[1] == "one"}, words[2:], root)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		all = append(all, units...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no command", path)
	}
	return all, nil
}

// expand makes a unit for every file that the pattern among the words matches, or one when there is
// none.
func expand(u Unit, words []string, root string) ([]Unit, error) {
	for i, word := range words {
		if !strings.Contains(word, "*") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(word)))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s matches no file (%v)", word, err)
		}
		var all []Unit
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			u.Args = append([]string{}, words...)
			u.Args[i] = filepath.ToSlash(name)
			all = append(all, u)
		}
		return all, nil
	}
	u.Args = words
	return []Unit{u}, nil
}
