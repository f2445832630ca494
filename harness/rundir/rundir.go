// Package rundir keeps a run in a folder: the scenario that replays it, what was asked and
// answered, what happened inside, the verdict, and where it ran. The record is saved before it is
// checked, so that a checker which fails or never ends costs nothing.
//
// Promise: a folder appears whole or not at all; what is there already is never overwritten by
// something else.
//
// Refusal: it judges nothing and repairs nothing: a damaged folder is an error with its place.
package rundir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// The files of a folder.
const (
	ScenarioFile    = "scenario.txt"
	HistoryFile     = "history.ndjson.zst"
	EventsFile      = "events.ndjson.zst"
	EnvironmentFile = "env.json"
	VerdictFile     = "verdict.json"
	StoryFile       = "story.md"
	CurveFile       = "curve.csv"
	ReportFile      = "report.html"
)

// MaxEvents is how many events a folder keeps: the last ones, since a failure is near the end.
const MaxEvents = 200_000

// FileError says what is wrong with a file, and what to do about it.
type FileError = histories.FileError

// Environment is where a run took place: what a replay elsewhere may be compared with.
type Environment struct {
	Commit string   `json:"commit,omitempty"`
	Go     string   `json:"go"`
	OS     string   `json:"os"`
	Arch   string   `json:"arch"`
	Flags  []string `json:"flags,omitempty"`
	// Build tells programs apart; empty when it is not known.
	Build string `json:"build,omitempty"`
	// Scenario is the digest of the scenario's text; empty in records of older builds.
	Scenario string `json:"scenario,omitempty"`
	// Hash is the trace hash, Steps the number of events.
	Hash  string `json:"hash"`
	Steps uint64 `json:"steps"`
}

// String names the build and the machine.
func (e *Environment) String() string {
	return strings.Join(slices.DeleteFunc([]string{
		e.Commit, e.Build, e.Go, e.OS + "/" + e.Arch,
	}, func(s string) bool { return s == "" }), " ")
}

// Record is what is saved of a run before it is checked.
type Record struct {
	Scenario    *scenario.Scenario
	History     []histories.Op
	Events      []trace.Event
	Environment Environment
}

// ReadEnvironment reads where the run of a folder took place.
func ReadEnvironment(folder string) (env Environment, err error) {
	path := filepath.Join(folder, EnvironmentFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return env, fmt.Errorf("the saved run has no readable environment: %w", err)
	}
	if err := json.Unmarshal(text, &env); err != nil {
		return env, &histories.FileError{
			File:   path,
			Wrong:  "it is damaged: " + err.Error(),
			Remedy: "copy the folder again from where it was written",
		}
	}
	return env, nil
}

// Altered says whether the scenario of a folder is not the one that was recorded: it was
// edited, or cut where a line ends. Records of builds without digests are not.
func (e *Environment) Altered(folder string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(folder, ScenarioFile))
	return e.Scenario != "" && e.Scenario != digest(text), err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// VerdictSchema is the version of verdict.json.
const VerdictSchema = "shardproof.verdict/1"

// ExistsError says that something else is already where a folder or file should go. Nothing was
// changed.
type ExistsError struct{ Path string }

// Error names the path and the remedy.
func (e *ExistsError) Error() string {
	return e.Path + " exists with other content; move it away or choose another name"
}

// Folder is a saved run.
type Folder struct{ Path string }

// Save writes the record into a new folder at path. A folder that already holds the same record is
// left as it is; any other is an *ExistsError.
func Save(path string, r Record) (*Folder, error) {
	files, err := r.files()
	if err != nil {
		return nil, err
	}
	same, err := holdsFiles(path, files)
	switch {
	case err != nil:
		return nil, err
	case same:
		return &Folder{path}, nil
	}
	return createFolder(path, files)
}

type file struct {
	name string
	data []byte
}

func (r Record) files() ([]file, error) {
	text := []byte(r.Scenario.String())
	r.Environment.Scenario = digest(text)
	header := histories.Header{
		Scenario: r.Scenario.Name,
		Seed:     r.Scenario.Seed,
		Hash:     r.Environment.Hash,
	}
	history, err := packRecords(header, r.History)
	if err != nil {
		return nil, err
	}
	header.Dropped = max(0, len(r.Events)-MaxEvents)
	events, err := packRecords(header, r.Events[header.Dropped:])
	if err != nil {
		return nil, err
	}
	env, err := jsonDocument(r.Environment)
	return []file{
		{ScenarioFile, text}, {HistoryFile, history}, {EventsFile, events},
		{EnvironmentFile, env},
	}, err
}

func packRecords[T histories.Record](h histories.Header, records []T) ([]byte, error) {
	var b bytes.Buffer
	err := histories.Write(&b, h, records)
	return b.Bytes(), err
}

func jsonDocument(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// addedLater are the files that a folder may have besides its record.
var addedLater = []string{VerdictFile, StoryFile, CurveFile, ReportFile}

// holdsFiles says whether path is a folder with exactly these files, and maybe a verdict. Something
// else there is an error.
func holdsFiles(path string, files []file) (bool, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		if _, there := os.Lstat(path); there == nil {
			err = &ExistsError{path}
		}
		return false, err
	}
	for _, e := range entries {
		known := slices.ContainsFunc(files, func(f file) bool { return f.name == e.Name() })
		if !known && !slices.Contains(addedLater, e.Name()) {
			return false, &ExistsError{path}
		}
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(path, f.name))
		if err != nil || !f.holds(data) {
			return false, &ExistsError{path}
		}
	}
	return true, nil
}

// holds says whether data is the file's. It does not matter which build a record is from.
func (f *file) holds(data []byte) bool {
	var mine, there Environment
	if f.name != EnvironmentFile || json.Unmarshal(f.data, &mine) != nil ||
		json.Unmarshal(data, &there) != nil {
		return bytes.Equal(data, f.data)
	}
	there.Build, there.Scenario = mine.Build, mine.Scenario
	return reflect.DeepEqual(mine, there)
}

// createFolder writes beside the place where the folder goes, and moves it there in one step.
func createFolder(path string, files []file) (*Folder, error) {
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	draft, err := os.MkdirTemp(parent, ".draft-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(draft)
	for _, f := range files {
		if err := Replace(filepath.Join(draft, f.name), f.data); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(draft, 0o755); err != nil {
		return nil, err
	}
	if err := os.Rename(draft, path); err != nil {
		return nil, fmt.Errorf("the run could not be saved: %w", err)
	}
	return &Folder{path}, syncPath(parent)
}

// Conclusion is what was found out about a saved run.
type Conclusion struct {
	// Signature groups it with runs that fail alike, as memories do; empty for a run that passed.
	Signature string
	// Verdict must marshal to the value of a JSON object's field.
	Verdict any
	// Story is for people, in Markdown.
	Story string
}

// Conclude adds the verdict and the story. It replaces neither.
func (f *Folder) Conclude(c Conclusion) error {
	text, err := jsonDocument(struct {
		Schema    string `json:"schema"`
		Signature string `json:"signature,omitempty"`
		Verdict   any    `json:"verdict"`
	}{VerdictSchema, c.Signature, c.Verdict})
	if err != nil {
		return err
	}
	return errors.Join(f.Add(VerdictFile, text), f.Add(StoryFile, []byte(c.Story)))
}

// Has says whether there is a file of that name.
func (f *Folder) Has(name string) bool {
	_, err := os.Lstat(filepath.Join(f.Path, name))
	return err == nil
}

// Add writes one more file, whole or not at all. The same content twice is no error, another one is
// an *ExistsError.
func (f *Folder) Add(name string, data []byte) error {
	path := filepath.Join(f.Path, name)
	if old, err := os.ReadFile(path); err == nil {
		if bytes.Equal(old, data) {
			return nil
		}
		return &ExistsError{path}
	}
	draft, err := writeDraft(f.Path, data)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	// A link, other than a rename, refuses to replace a file that came there in the meantime.
	if err := os.Link(draft, path); errors.Is(err, fs.ErrExist) {
		return &ExistsError{path}
	} else if err != nil {
		return err
	}
	return syncPath(f.Path)
}
