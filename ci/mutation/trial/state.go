package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// State is what a campaign knows so far.
type State struct {
	// Build names the program and the plan. Results of other builds are not mixed in.
	Build string `json:"build"`
	// Baseline is, for every unit, how the program without a mutant went.
	Baseline []Baseline `json:"baseline"`
	// Results are the ends of mutants, by identity.
	Results map[string]Result `json:"results"`
	file    string
}

// Baseline is a unit without a mutant.
type Baseline struct {
	Unit string `json:"unit"`
	// CPU is in seconds.
	CPU float64 `json:"cpu"`
	// Reached has a bit for every mutant that the unit reaches.
	Reached []byte `json:"reached"`
	// Failed says why the unit cannot be used; empty when it can.
	Failed string `json:"failed,omitempty"`
}

// reaches says whether the unit reaches a mutant.
func (b *Baseline) reaches(n int) bool {
	return b.Failed == "" && n/8 < len(b.Reached) && b.Reached[n/8]&(1<<(n%8)) != 0
}

// Result is the end of one mutant: a kill, Passed when it survived all that was run, or why that is
// not known.
type Result struct {
	End string `json:"end"`
	// Stage and Unit are where it ended.
	Stage string   `json:"stage,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	By    []string `json:"by,omitempty"`
	// CPU is how many seconds all units took together, the killing one included.
	CPU float64 `json:"cpu"`
	// Next is the first unit that was not tried for lack of time; a larger budget goes on there.
	Next int    `json:"next"`
	Said string `json:"said,omitempty"`
}

// ByTests says whether it was the tests of a package that ended the mutant, and no oracle.
func (r Result) ByTests() bool { return strings.HasPrefix(r.Unit, test+" ") }

// Open reads the state of a build, or begins one.
func Open(file, build string) (*State, error) {
	s := &State{Build: build, Results: map[string]Result{}, file: file}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s is not the state of a campaign: %w", file, err)
	}
	if s.Build != build {
		return nil, fmt.Errorf("%s belongs to another build or plan; "+
			"use another -out, and -of %s for its survivors alone", file, file)
	}
	return s, nil
}

// Survivors are the identities that survived in the state of another campaign, or whose end is not
// known. Of a report, whose name ends in .md, they are those that its list of survivors names.
func Survivors(file string) (map[string]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(file) == ".md" {
		return listed(file, string(text))
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s is not the state of a campaign: %w", file, err)
	}
	all := map[string]bool{}
	for id, r := range s.Results {
		if !Dead(r.End) {
			all[id] = true
		}
	}
	return all, nil
}

// listed are the identities in a report's list of survivors, each of which begins its line.
func listed(file, report string) (map[string]bool, error) {
	_, list, ok := strings.Cut(report, "\n## Survived: ")
	if !ok {
		return nil, fmt.Errorf("%s is not the report of a campaign: it lists no survivors", file)
	}
	list, _, _ = strings.Cut(list, "\n## ")
	all := map[string]bool{}
	for line := range strings.Lines(list) {
		id, _, quoted := strings.Cut(strings.TrimPrefix(line, "`"), "`")
		if quoted && strings.HasPrefix(line, "`system/") {
			all[id] = true
		}
	}
	return all, nil
}

// save replaces the file as a whole: a process that is killed leaves the old or the new state.
func (s *State) save() error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(s.file), "state-*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err := errors.Join(err, next.Sync(), next.Close()); err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return os.Rename(next.Name(), s.file)
}

// BuildOf names a program, tests of packages and a plan by their contents.
func BuildOf(path string, tests map[string]string, plan []Unit) (string, error) {
	h := sha256.New()
	files := []string{path}
	for _, p := range Packages(plan) {
		files = append(files, tests[p])
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		h.Write(text)
	}
	for _, u := range plan {
		fmt.Fprintf(h, "\n%s %t %s", u.Stage, u.One, u)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}
