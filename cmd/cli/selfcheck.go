package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/formats"
)

// selfcheck finds out whether results of this program on this machine can be relied on.
type selfcheck struct {
	targets target.Set
	out     string // where runs are to be kept
	scratch string // a folder in it, which goes away
	canary  *runner.Result
}

// checked is a line of the result, for programs.
type checked struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Says  string `json:"says"`
}

func newSelfcheck(targets target.Set) *cobra.Command {
	s := &selfcheck{targets: targets}
	c := &cobra.Command{
		Use:   "selfcheck",
		Short: "find out whether results can be relied on here: a canary, a replay, disk, limits",
		Long: `Selfcheck runs a scenario that must fail and one that must pass, judges a history
that is known to be wrong, keeps the failing run and replays it from what was kept, and looks at the
disk and the limits of this machine.

Exit codes: 0 all is well, 4 something is not.`,
		Example: "  shardproof selfcheck\n  shardproof selfcheck --out /mnt/results",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return s.check(c) },
	}
	c.Flags().StringVar(&s.out, "out", "out", "the folder in which runs are to be kept")
	return c
}

func (s *selfcheck) check(c *cobra.Command) (err error) {
	failed := 0
	for _, one := range []struct {
		name string
		do   func() (string, error)
	}{
		{"build", func() (string, error) { return versionText(), nil }},
		{"limits", limitsText}, {"disk", s.disk}, {"canary", s.fails}, {"healthy", s.passes},
		{"checkers", s.forged}, {"replay", s.replays},
	} {
		says, err := one.do()
		state := "ok"
		if err != nil {
			state, says = "FAIL", err.Error()
			failed++
		}
		fmt.Fprintf(c.OutOrStdout(), "%-4s  %-9s %s\n", state, one.name, says)
		results.Of(c.Context()).Enter(checked{one.name, err == nil, says})
	}
	if s.scratch != "" {
		err = os.RemoveAll(s.scratch)
	}
	countSearch(c, map[string]int{"failures": failed})
	if failed > 0 || err != nil {
		return &exitError{exitHarness, err}
	}
	return nil
}

func limitsText() (string, error) {
	text := fmt.Sprintf("%s, %d of them used", counted(runtime.NumCPU(), "core", "cores"),
		runtime.GOMAXPROCS(0))
	const none = 1 << 62
	if limit := debug.SetMemoryLimit(-1); limit < none {
		text += fmt.Sprintf(", memory is limited to %d MiB", limit>>20)
		if limit < leastMemory {
			return "", fmt.Errorf("%s; a run needs up to %d MiB", text, leastMemory>>20)
		}
	}
	return text, nil
}

// leastMemory is what a worker and its largest runs need.
const leastMemory = 256 << 20

// disk tries to write where runs are to be kept.
func (s *selfcheck) disk() (string, error) {
	if err := tryFolder(s.out); err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return "", err
	}
	var err error
	if s.scratch, err = os.MkdirTemp(s.out, ".selfcheck-"); err != nil {
		return "", err
	}
	const size = 4 << 20
	if err := rundir.Replace(filepath.Join(s.scratch, "probe"), make([]byte, size)); err != nil {
		return "", fmt.Errorf("%d MiB cannot be written to %s: %w", size>>20, s.out, err)
	}
	return s.out + " can be written to", nil
}

// canaryScenario ends before an orphan can be deleted, which is a broken promise.
const canaryScenario = `shardproof scenario 2
name canary
seed 7
topology shards=2 members=3 config=3 routers=1 clients=1
faults-end 300ms
limit 1s
collection test.docs ranged keys=4 preload=4 bounds=2
preset quick
set orphanCleanupDelaySecs %s
op 1 at 10ms client 0 read test.docs k=1
move 1 at 10ms test.docs [2, MaxKey) to shard-a
`

func (s *selfcheck) run(delay, folder string) (*runner.Result, error) {
	parsed, err := harness.Parse("canary", fmt.Sprintf(canaryScenario, delay))
	if err != nil {
		return nil, err
	}
	return harness.RunAndSave(parsed, runner.Options{}, folder, thisEnvironment())
}

// fails runs what must fail.
func (s *selfcheck) fails() (string, error) {
	if s.scratch == "" {
		return "", errors.New("there is no disk to keep its run on")
	}
	r, err := s.run("30s", filepath.Join(s.scratch, "canary"))
	switch {
	case err != nil:
		return "", err
	case r.Passed():
		return "", errors.New("a scenario that must fail has passed: no verdict can be relied on")
	}
	s.canary = r
	return "fails as it must, with " + r.Signature(), nil
}

func (s *selfcheck) passes() (string, error) {
	r, err := s.run("20ms", "")
	switch {
	case err != nil:
		return "", err
	case !r.Passed():
		return "", fmt.Errorf("a scenario that must pass fails with %s", r.Signature())
	}
	return "the same scenario with time to finish passes", nil
}

// forgedHistory reads an old value after a newer one was acknowledged.
const forgedHistory = `{"schema":"shardproof.history/1","seed":0}
{"id":1,"client":0,"ns":"t.c","kind":"insert","key":1,"value":"a","call":1,"return":2,"outcome":"ok","result":{"applied":true}}
{"id":2,"client":0,"ns":"t.c","kind":"write","key":1,"value":"b","call":3,"return":4,"outcome":"ok","result":{"applied":true,"found":true,"value":"a"}}
{"id":3,"client":0,"ns":"t.c","kind":"read","key":1,"call":5,"return":6,"outcome":"ok","result":{"found":true,"value":"a"}}
{"end":true,"records":3}
`

// forged judges a history that is known to be wrong.
func (s *selfcheck) forged() (string, error) {
	if s.scratch == "" {
		return "", errors.New("there is no disk to keep a history on")
	}
	file := filepath.Join(s.scratch, "forged.ndjson")
	if err := os.WriteFile(file, []byte(forgedHistory), 0o644); err != nil {
		return "", err
	}
	ops, err := formats.Read(file, formats.Limits{})
	if err != nil {
		return "", err
	}
	worst := checkers.Worst(checkers.Check(ops, checkers.Limits{}))
	if worst.Outcome != checkers.Fail {
		return "", errors.New("a history with a stale read has passed: no verdict can be relied on")
	}
	return "a stale read is found, by " + worst.Checker, nil
}

// replays runs the canary again from what was kept of it.
func (s *selfcheck) replays() (string, error) {
	if s.canary == nil {
		return "", errors.New("there is no run to replay")
	}
	folder := filepath.Join(s.scratch, "canary")
	file := filepath.Join(folder, rundir.ScenarioFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	parsed, err := harness.Parse(file, string(text))
	if err != nil {
		return "", err
	}
	env, err := rundir.ReadEnvironment(folder)
	if err != nil {
		return "", err
	}
	r, err := runner.Run(parsed, runner.Options{Targets: harness.Targets()})
	if err != nil {
		return "", err
	}
	if hashes := []string{env.Hash, s.canary.HashText(), r.HashText()}; hashes[0] != hashes[1] ||
		hashes[1] != hashes[2] {
		return "", fmt.Errorf("three runs of one scenario have the trace hashes %s",
			strings.Join(hashes, ", "))
	}
	return "the kept run replays step for step, trace hash " + r.HashText(), nil
}
