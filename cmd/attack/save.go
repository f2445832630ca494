package attack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/timeline"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/live/eventlog"
	"github.com/shardproof/shardproof/system/live/process"
)

// The parts of a run's folder besides those of package rundir.
const (
	attackLog   = "attack.log"
	nodesFolder = "nodes"
	againScript = "again.sh"
)

// saved is a run that is being saved.
type saved struct {
	path, work string
	schedule   *scenario.Scenario
	result     *live.Result
	nodes      []string
	program    string
	keep       bool
	verdicts   []checkers.Verdict
}

// freeFolder is a name in a folder that nothing has yet.
func freeFolder(in, name string) (string, error) {
	if err := os.MkdirAll(in, 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		path := filepath.Join(in, name)
		if i > 1 {
			path += fmt.Sprintf("-%d", i)
		}
		_, run := os.Lstat(path)
		_, work := os.Lstat(path + ".servers")
		if errors.Is(run, fs.ErrNotExist) && errors.Is(work, fs.ErrNotExist) {
			return path, nil
		}
	}
}

// save writes the folder: what was recorded first, so that a check which never ends costs nothing.
func (r *saved) save() ([]checkers.Verdict, error) {
	events, err := r.events()
	if err != nil {
		return nil, err
	}
	folder, err := rundir.Save(r.path, rundir.Record{
		Scenario: r.schedule, History: r.result.History, Events: events,
		Environment: rundir.Environment{Go: runtime.Version(), OS: runtime.GOOS,
			Arch: runtime.GOARCH, Flags: os.Args[1:], Steps: uint64(len(events))},
	})
	if err != nil {
		return nil, err
	}
	if err := r.saveTimeline(); err != nil {
		return nil, err
	}
	verdicts := attack.Judge(r.result.Record)
	conclusion := rundir.Conclusion{Verdict: verdicts, Story: told(verdicts)}
	if err := folder.Conclude(conclusion); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.path, againScript), r.again(), 0o755); err != nil {
		return nil, err
	}
	return verdicts, r.take(checkers.Worst(verdicts).Outcome == checkers.Pass)
}

// saveTimeline writes how many operations a second there were, how long they took, and the faults.
func (r *saved) saveTimeline() error {
	var text bytes.Buffer
	over := live.Timeline(r.schedule.Name, r.result.History, r.result.Faults)
	if err := over.Write(&text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.path, timeline.File), text.Bytes(), 0o644)
}

// take moves the logs into the folder, and what the servers have stored unless nobody needs it.
func (r *saved) take(passed bool) error {
	if passed && !r.keep {
		for _, id := range r.nodes {
			node := filepath.Join(r.work, nodesFolder, id)
			for _, part := range []string{process.DataFolder, process.EventsFolder} {
				if err := os.RemoveAll(filepath.Join(node, part)); err != nil {
					return err
				}
			}
		}
	}
	entries, err := os.ReadDir(r.work)
	for _, e := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(r.work, e.Name()),
			filepath.Join(r.path, e.Name())))
	}
	return errors.Join(err, os.Remove(r.work))
}

// events merges the event logs of the nodes by their clocks; times are those of the history, and 0
// for what was before it. Steps number them as they stand then: events of two nodes may really have
// happened the other way round.
func (r *saved) events() (all []trace.Event, err error) {
	share := rundir.MaxEvents / max(1, len(r.nodes))
	for _, id := range r.nodes {
		var of []trace.Event
		folder := filepath.Join(r.work, nodesFolder, id, process.EventsFolder)
		err := eventlog.Read(folder, func(_ int, e *trace.Event) error {
			if of = append(of, *e); len(of) >= 2*share {
				of = slices.Delete(of, 0, share)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, of[max(0, len(of)-share):]...)
	}
	slices.SortStableFunc(all, func(a, b trace.Event) int { return cmp.Compare(a.At, b.At) })
	began := r.result.Began.UnixNano()
	for i := range all {
		all[i].Step, all[i].At = uint64(i+1), max(0, all[i].At-began)
	}
	return all, nil
}

// again is a script that repeats the schedule.
func (r *saved) again() []byte {
	return fmt.Appendf(nil, `#!/bin/sh
# Repeats the schedule of this run. Time is real, so what happens between two lines of the schedule
# differs each time. More flags are handed on, such as --out FOLDER.
exec "${SHARDPROOF:-%s}" attack --program "${PROGRAM:-%s}" \
	--schedule "$(dirname "$0")/%s" "$@"
`, tool(), r.program, rundir.ScenarioFile)
}

func tool() string {
	path, err := os.Executable()
	if err != nil {
		return "shardproof"
	}
	return path
}

// told is what broke or stayed open, for people.
func told(verdicts []checkers.Verdict) string {
	var b bytes.Buffer
	for _, v := range verdicts {
		if v.Outcome == checkers.Pass {
			continue
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", strings.ToUpper(string(v.Outcome)), v.Checker, v.Promise)
		for _, line := range v.Undecided {
			fmt.Fprintf(&b, "  undecided: %s\n", line)
		}
		for i := range v.Violations[:min(3, len(v.Violations))] {
			fmt.Fprintf(&b, "  %s\n", v.Violations[i].String())
		}
		if v.Found > 3 {
			fmt.Fprintf(&b, "  and %d more\n", v.Found-3)
		}
	}
	return b.String()
}
