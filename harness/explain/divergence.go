package explain

import (
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// Divergence is where two runs of one scenario part: the first event that differs.
type Divergence struct {
	Recorded, Now         string // trace hashes
	RecordedIn            rundir.Environment
	Step                  uint64
	RecordedNext, NowNext string
}

// String names both events.
func (d *Divergence) String() string {
	text := fmt.Sprintf("recorded trace hash %s (%s, %s/%s), now %s",
		d.Recorded, d.RecordedIn.Go, d.RecordedIn.OS, d.RecordedIn.Arch, d.Now)
	if d.Step == 0 {
		return text + "; all recorded events are equal, the runs differ between events"
	}
	return fmt.Sprintf("%s; first divergence at step %d: recorded %q, now %q",
		text, d.Step, d.RecordedNext, d.NowNext)
}

// Compare holds a run, made with Options.Events, against a saved one. Nil means that they are the
// same step by step.
func Compare(folder string, r *runner.Result) (*Divergence, error) {
	env, err := rundir.ReadEnvironment(folder)
	if err != nil {
		return nil, err
	}
	if env.Hash == r.HashText() && env.Steps == r.Steps {
		return nil, sameHistory(folder, r)
	}
	d := &Divergence{Recorded: env.Hash, Now: r.HashText(), RecordedIn: env}
	header, events, err := histories.ReadFile[trace.Event](filepath.Join(folder, rundir.EventsFile))
	if err != nil {
		return nil, err
	}
	d.find(events, r.Events[min(header.Dropped, len(r.Events)):])
	return d, nil
}

// sameHistory says what is wrong with the history of a folder whose run was the same.
func sameHistory(folder string, r *runner.Result) error {
	path := filepath.Join(folder, rundir.HistoryFile)
	_, recorded, err := histories.ReadFile[histories.Op](path)
	if err != nil || len(recorded) == len(r.History) {
		return err
	}
	return &histories.FileError{
		File: path,
		Wrong: fmt.Sprintf("it holds %d operations, and the run has %d",
			len(recorded), len(r.History)),
		Remedy: "copy the folder again from where it was written",
	}
}

func (d *Divergence) find(recorded, now []trace.Event) {
	for i := range max(len(recorded), len(now)) {
		a, b := eventAt(recorded, i), eventAt(now, i)
		if a != nil && b != nil && sameEvent(a, b) {
			continue
		}
		d.RecordedNext, d.NowNext = "the end", "the end"
		if b != nil {
			d.NowNext, d.Step = fmt.Sprintf("step %d %s", b.Step, Sentence(b)), b.Step
		}
		if a != nil {
			d.RecordedNext, d.Step = fmt.Sprintf("step %d %s", a.Step, Sentence(a)), a.Step
		}
		return
	}
}

func eventAt(events []trace.Event, i int) *trace.Event {
	if i < len(events) {
		return &events[i]
	}
	return nil
}

// sameEvent compares events as they are stored: an empty list of chunks is no list.
func sameEvent(a, b *trace.Event) bool {
	x, y := *a, *b
	if len(x.Chunks) == 0 && len(y.Chunks) == 0 {
		x.Chunks, y.Chunks = nil, nil
	}
	return reflect.DeepEqual(x, y)
}
