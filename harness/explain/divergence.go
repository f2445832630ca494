package explain

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

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
	// Fields are those in which the two events differ when they read alike.
	Fields []string
	// Altered: the scenario of the folder is not the one that was recorded.
	Altered bool
}

// OtherBuild says whether the recording is not from the program with this hash, so that the same
// scenario may well take another path. It is never said when either is unknown.
func (d *Divergence) OtherBuild(program string) bool {
	return d.RecordedIn.Build != "" && program != "" && d.RecordedIn.Build != program
}

// String names both events.
func (d *Divergence) String() string {
	text := fmt.Sprintf("recorded trace hash %s (%s, %s/%s), now %s",
		d.Recorded, d.RecordedIn.Go, d.RecordedIn.OS, d.RecordedIn.Arch, d.Now)
	if d.Altered {
		text = "the folder's scenario was edited or cut since it was recorded; " + text
	}
	switch {
	case d.Recorded == d.Now:
		return text
	case d.Step == 0:
		return text + "; no recorded event differs, the runs differ between events"
	}
	text = fmt.Sprintf("%s; first divergence at step %d: recorded %q, now %q",
		text, d.Step, d.RecordedNext, d.NowNext)
	if len(d.Fields) > 0 {
		text += ", which differ in " + strings.Join(d.Fields, ", ")
	}
	return text
}

// Compare holds a run, made with Options.Events, against a saved one. Nil means that they are the
// same step by step.
func Compare(folder string, r *runner.Result) (*Divergence, error) {
	env, err := rundir.ReadEnvironment(folder)
	if err != nil {
		return nil, err
	}
	altered, err := env.Altered(folder)
	if err != nil {
		return nil, err
	}
	header, events, err := histories.ReadFile[trace.Event](filepath.Join(folder, rundir.EventsFile))
	if err != nil {
		return nil, err
	}
	same := env.Hash == r.HashText() && env.Steps == r.Steps
	if err := readHistory(folder, r, same); err != nil || same && !altered {
		return nil, err
	}
	d := &Divergence{
		Recorded: env.Hash, Now: r.HashText(), RecordedIn: env, Altered: altered,
	}
	if !same {
		d.find(emitted(events), emitted(r.Events[min(header.Dropped, len(r.Events)):]))
	}
	return d, nil
}

// readHistory says what is wrong with the history of a folder. That of the same run has as many
// operations.
func readHistory(folder string, r *runner.Result, same bool) error {
	path := filepath.Join(folder, rundir.HistoryFile)
	_, recorded, err := histories.ReadFile[histories.Op](path)
	if err != nil || !same || len(recorded) == len(r.History) {
		return err
	}
	return &histories.FileError{
		File: path,
		Wrong: fmt.Sprintf("it holds %d operations, and the run has %d",
			len(recorded), len(r.History)),
		Remedy: "copy the folder again from where it was written",
	}
}

// emitted are the events without what was said, which recordings of older builds do not have.
func emitted(events []trace.Event) []trace.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e trace.Event) bool {
		return e.Kind == trace.Exchanged
	})
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
		if d.RecordedNext == d.NowNext {
			d.Fields = differing(a, b)
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

// differing are the names of the fields in which two events differ.
func differing(a, b *trace.Event) (fields []string) {
	x, y := reflect.ValueOf(*a), reflect.ValueOf(*b)
	for i := range x.NumField() {
		f := x.Type().Field(i)
		if fmt.Sprintf("%+v", x.Field(i)) != fmt.Sprintf("%+v", y.Field(i)) {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

// sameEvent compares events as they are stored: an empty list of chunks is no list.
func sameEvent(a, b *trace.Event) bool {
	x, y := *a, *b
	if len(x.Chunks) == 0 && len(y.Chunks) == 0 {
		x.Chunks, y.Chunks = nil, nil
	}
	return reflect.DeepEqual(x, y)
}
