package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shardproof/shardproof/ci/mutation/active"
)

// The ends of a trial.
const (
	Passed    = "passed"
	Killed    = "killed"     // a promise broke
	Panicked  = "panicked"   // the process crashed, with a panic that nothing in it caught
	Hung      = "hung"       // a single run took many times its CPU time
	Harness   = "harness"    // the harness failed, which is no verdict
	Undecided = "undecided"  // the program says so
	TooSlow   = "too slow"   // the CPU time or the real time of a command with many runs was over
	Odd       = "unexpected" // an exit code, or a lack of a verdict, that has no meaning
)

// Dead says whether an end is a kill.
func Dead(end string) bool { return end == Killed || end == Panicked || end == Hung }

// program is the build with all mutants.
type program struct {
	path   string
	tests  map[string]string // the builds of packages' tests
	root   string            // where it runs
	memory int64
}

// ran is what came of one command.
type ran struct {
	end string
	by  []string // the checkers that failed, the first first
	cpu time.Duration
	// said is the end of what the command wrote, for ends that a person must look at.
	said string
}

// noMutant is the number of a run of the program as it is.
const noMutant = -1

// realTime is how many seconds of real time a command has for each second of CPU time: the machine
// may be busy.
const realTime = 60

// run runs one command with a mutant on. Reached may name the file in which reached mutants are
// noted.
func (p *program) run(
	ctx context.Context, u Unit, mutant int, cpu time.Duration, reached string,
) (ran, error) {
	out, err := os.MkdirTemp("", "shardproof-mutation-")
	if err != nil {
		return ran{}, err
	}
	defer os.RemoveAll(out)
	seconds := int64(math.Ceil(cpu.Seconds()))
	bounded, cancel := context.WithTimeout(ctx, time.Duration(realTime*seconds)*time.Second)
	defer cancel()
	cmd := p.command(bounded, u, filepath.Join(out, "out"))
	cmd.Env = append(cmd.Env, active.CPU+"="+strconv.FormatInt(seconds, 10))
	if mutant != noMutant {
		cmd.Env = append(cmd.Env, active.Chosen+"="+strconv.Itoa(mutant))
	}
	if reached != "" {
		cmd.Env = append(cmd.Env, active.Reached+"="+reached)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if ctx.Err() != nil {
		return ran{}, ctx.Err()
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return ran{}, fmt.Errorf("%s did not start: %w", u, err)
	}
	state := cmd.ProcessState
	r := ran{cpu: state.UserTime() + state.SystemTime(), said: ends(said.String())}
	return r, r.judge(u, state, said.String(), out)
}

func (p *program) command(ctx context.Context, u Unit, out string) *exec.Cmd {
	args := slices.Clone(u.Args)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "{out}", out)
	}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = p.root
	if name := u.Package(); name != "" {
		cmd = exec.CommandContext(ctx, p.tests[name], args[2:]...)
		cmd.Dir = filepath.Join(p.root, filepath.FromSlash(name))
	}
	memory := active.Memory + "=" + strconv.FormatInt(p.memory, 10)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", memory)
	return cmd
}

// judge reads the end of the process.
func (r *ran) judge(u Unit, state *os.ProcessState, said, out string) (err error) {
	status, _ := state.Sys().(syscall.WaitStatus)
	crashed := strings.Contains(said, "\ngoroutine ") &&
		(strings.Contains(said, "panic: ") || strings.Contains(said, "fatal error: "))
	switch code := state.ExitCode(); {
	case code == 0:
		r.end = Passed
	case status.Signaled() && u.One:
		r.end = Hung
	case status.Signaled():
		r.end = TooSlow
	case code == 2 && crashed:
		r.end = Panicked
	case code == 1:
		r.end = Killed
		if r.by, err = verdicts(out); u.Package() != "" {
			r.by = failedTests(u.Package(), said)
		}
		if len(r.by) == 0 {
			r.end = Odd
		}
	default:
		r.end = map[int]string{2: Undecided, 3: Killed, 4: Harness}[code]
		if code == 3 {
			r.by = []string{"replay"}
		}
	}
	if r.end == "" {
		r.end = Odd
	}
	return err
}

var failing = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failedTests are the tests of a package that failed, by what they printed: the package first, then
// outer tests before inner ones.
func failedTests(name, said string) (by []string) {
	for _, m := range failing.FindAllStringSubmatch(said, -1) {
		by = append(by, m[1])
	}
	if len(by) > 0 {
		by = slices.Insert(by, 0, "tests of "+name)
	}
	return by
}

// verdicts are the checkers that failed in the first run that was kept below a folder.
func verdicts(folder string) (by []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "verdict.json" || len(by) > 0 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var v struct {
			Verdict []struct{ Checker, Outcome string }
		}
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, one := range v.Verdict {
			if one.Outcome == "fail" {
				by = append(by, one.Checker)
			}
		}
		return nil
	})
	return by, err
}

// ends are the beginning and the end of a text.
func ends(text string) string {
	const most = 1000
	if len(text) <= 2*most {
		return text
	}
	return text[:most] + "\n...\n" + text[len(text)-most:]
}
