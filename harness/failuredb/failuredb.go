// Package failuredb is what campaigns remember of failures, over builds and days: the signatures
// that were seen, when and with which build first and last, the runs that were kept, and whether
// they still fail.
//
// Promise: what was reported is on the disk before the call returns, a line each, so that a process
// which is killed at any moment has lost nothing of it; a line that was not written to its end is
// forgotten. An error to write is returned by every later call, too: nothing goes on that could not
// be kept.
//
// Refusal: it runs nothing, looks at no clock and decides nothing about a campaign; the
// caller runs the kept cases and says what came of them.
package failuredb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories"
)

// File is the name of the record in the folder of the memory; the kept cases are folders beside it.
const File = "memory.ndjson"

const journalTitle = `{"schema":"shardproof.memory/1"}`

// Status is what is known of a signature.
type Status string

// The statuses. One that the campaign in progress has seen for the first time is New, one that it
// has seen again after a time in which nothing of it failed CameBack; both are Known to the next
// campaign, as long as they fail.
const (
	New      Status = "new"
	Known    Status = "known"
	Fixed    Status = "fixed"
	CameBack Status = "came back"
)

// Sighting is where and when a signature was seen.
type Sighting struct {
	At    time.Time `json:"at"`
	Build string    `json:"build,omitempty"`
	Seed  uint64    `json:"seed,omitempty"`
}

// Entry is a signature.
type Entry struct {
	Signature string   `json:"signature"`
	Status    Status   `json:"status"`
	First     Sighting `json:"first"`
	Last      Sighting `json:"last"`
	// Times is how many failing runs there were, those of kept cases not counted.
	Times int `json:"runs"`
	// Cases are the folders of kept runs below the memory's, the first ones that failed so.
	Cases []string `json:"cases,omitempty"`
	// Shapes tell failures of the signature apart; each that is here has its kept run.
	Shapes []string `json:"shapes,omitempty"`
}

// The events of a record.
const (
	eventBegan      = "campaign"
	eventFailed     = "failed"
	eventStillFails = "still fails"
	eventPasses     = "passes"
	eventShape      = "shape"
)

// line is a line of the record.
type line struct {
	Sighting
	Event     string `json:"event"`
	Signature string `json:"signature,omitempty"`
	Case      string `json:"case,omitempty"`
	Shape     string `json:"shape,omitempty"`
}

// Memory is a folder opened for one campaign.
type Memory struct {
	dir     string
	journal *rundir.Journal
	entries map[string]*Entry
	order   []string
}

// Open opens the memory in a folder, or begins one. The folder of something else is refused.
func Open(dir string) (*Memory, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, File)
	j, err := rundir.OpenJournal(path, journalTitle)
	if err != nil {
		return nil, err
	}
	m := &Memory{dir: dir, journal: j, entries: make(map[string]*Entry)}
	for i, text := range j.Lines {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			_ = j.Close()
			return nil, &histories.FileError{
				File:   path,
				Line:   i + 2,
				Wrong:  "it is damaged: " + err.Error(),
				Remedy: "take the line out",
			}
		}
		if !l.within() {
			_ = j.Close()
			return nil, &histories.FileError{
				File:   path,
				Line:   i + 2,
				Wrong:  fmt.Sprintf("the case %q is not a folder beside the file", l.Case),
				Remedy: "take the line out",
			}
		}
		m.fold(&l)
	}
	return m, nil
}

// fold takes in what a line says.
func (m *Memory) fold(l *line) {
	e := m.entries[l.Signature]
	switch {
	case l.Event == eventBegan:
		m.settle()
		return
	case e == nil:
		e = &Entry{Signature: l.Signature, Status: New, First: l.Sighting}
		m.entries[l.Signature] = e
		m.order = append(m.order, l.Signature)
	}
	switch l.Event {
	case eventFailed, eventStillFails:
		if e.Status == Fixed {
			e.Status = CameBack
		}
		e.Last = l.Sighting
		if slices.Contains(e.Cases, l.Case) {
			break // reported again by a campaign that was killed before it knew that it had
		}
		if l.Event == eventFailed {
			e.Times++
		}
		if l.Case != "" {
			e.Cases = append(e.Cases, l.Case)
		}
	case eventPasses:
		e.Status = Fixed
	case eventShape:
		if !slices.Contains(e.Shapes, l.Shape) {
			e.Shapes = append(e.Shapes, l.Shape)
		}
		if l.Case != "" && !slices.Contains(e.Cases, l.Case) {
			e.Cases = append(e.Cases, l.Case)
		}
	}
}

// settle makes what was news to one campaign known to the next.
func (m *Memory) settle() {
	for _, signature := range m.order {
		if e := m.entries[signature]; e.Status == New || e.Status == CameBack {
			e.Status = Known
		}
	}
}

func (m *Memory) append(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	m.journal.Append(string(text))
	if err := m.journal.Sync(); err != nil {
		return fmt.Errorf("the failure database could not be saved: %w", err)
	}
	m.fold(&l)
	return nil
}

// Begin tells that a campaign begins.
func (m *Memory) Begin(s Sighting) error { return m.append(line{Sighting: s, Event: eventBegan}) }

// Failed tells of a failing run; folder is where below the memory's it was kept, or empty.
func (m *Memory) Failed(signature string, s Sighting, folder string) (Status, error) {
	err := m.append(line{Sighting: s, Event: eventFailed, Signature: signature, Case: folder})
	return m.Status(signature), err
}

// Replayed tells what came of running all kept cases of a signature again: whether one of them
// still fails so.
func (m *Memory) Replayed(signature string, s Sighting, fails bool) (Status, error) {
	event := eventPasses
	if fails {
		event = eventStillFails
	}
	err := m.append(line{Sighting: s, Event: event, Signature: signature})
	return m.Status(signature), err
}

// Status is that of a signature; New for one that was never seen.
func (m *Memory) Status(signature string) Status {
	if e := m.entries[signature]; e != nil {
		return e.Status
	}
	return New
}

// HasShape tells that a failing run of the signature has a shape, and where that run was kept.
func (m *Memory) HasShape(signature, shape string, s Sighting, folder string) error {
	return m.append(line{
		Sighting: s, Event: eventShape, Signature: signature, Case: folder, Shape: shape,
	})
}

// keptShapes is of how many shapes of a signature a run is kept.
const keptShapes = 8

// WantsShape reports whether the shape is another than those that runs were kept of.
func (m *Memory) WantsShape(signature, shape string) bool {
	e := m.entries[signature]
	return e == nil || len(e.Shapes) < keptShapes && !slices.Contains(e.Shapes, shape)
}

// WorthShaping reports whether it pays to find out the shape of another failing run of the
// signature: of the first few, and then of fewer and fewer, so that a known failure of many seeds
// costs little, and a second one behind it is noticed all the same.
func (m *Memory) WorthShaping(signature string) bool {
	e := m.entries[signature]
	if e == nil || len(e.Shapes) >= keptShapes {
		return e == nil
	}
	const few = 8
	return e.Times <= few || e.Times&(e.Times-1) == 0
}

// keptCases is how many runs of a signature are kept: enough to see that a fix is one, and few
// enough for any disk.
const keptCases = 3

// Wants reports whether another failing run of the signature is worth a folder.
func (m *Memory) Wants(signature string) bool {
	e := m.entries[signature]
	return e == nil || len(e.Cases) < keptCases
}

// Entries are the signatures in the order in which they were first seen.
func (m *Memory) Entries() []Entry {
	all := make([]Entry, len(m.order))
	for i, signature := range m.order {
		all[i] = *m.entries[signature]
	}
	return all
}

// Dir is the folder.
func (m *Memory) Dir() string { return m.dir }

// Close ends the use of the memory.
func (m *Memory) Close() error { return m.journal.Close() }
