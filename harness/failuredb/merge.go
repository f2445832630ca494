package failuredb

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/rundir"
)

// found is a line of one of the records that are merged, and the folder that it is from.
type found struct {
	line
	text, dir string
}

// Merge writes into a folder without a memory what several machines remember: everything that any
// of them knows, lines that they share only once. The newest campaigns of all of them count as one,
// so that what is new to each is new to all. Of the kept cases of a signature the first few are
// copied. Folders without a memory are left out; with none at all nothing is written.
func Merge(to string, from []string) error {
	past, now, err := readAll(from)
	if err != nil || len(past)+len(now) == 0 {
		return err
	}
	m := &merging{to: to, seen: map[string]bool{}, names: map[string]string{},
		kept: map[string]int{}}
	m.text = append(m.text, journalTitle)
	for _, f := range append(past, asOneCampaign(now)...) {
		if err := m.add(f); err != nil {
			return err
		}
	}
	return rundir.Replace(filepath.Join(to, File), []byte(strings.Join(m.text, "\n")+"\n"))
}

// readAll reads the lines of all records: those of their newest campaigns are apart from those
// before. Both are sorted by time.
func readAll(from []string) (past, now []found, err error) {
	for _, dir := range from {
		lines, err := readLines(dir)
		if err != nil {
			return nil, nil, err
		}
		newest := len(lines)
		for i, l := range lines {
			if l.Event == eventBegan {
				newest = i
			}
		}
		past, now = append(past, lines[:newest]...), append(now, lines[newest:]...)
	}
	byTime := func(a, b found) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Seed, b.Seed))
	}
	slices.SortStableFunc(past, byTime)
	slices.SortStableFunc(now, byTime)
	return past, now, nil
}

// asOneCampaign leaves out all beginnings of campaigns but the first, which comes first.
func asOneCampaign(lines []found) []found {
	begins := func(f found) bool { return f.Event == eventBegan }
	first := slices.IndexFunc(lines, begins)
	if first < 0 {
		return lines
	}
	rest := slices.DeleteFunc(slices.Clone(lines), begins)
	return append([]found{lines[first]}, rest...)
}

// readLines reads a record without taking it from a campaign that may be using it.
func readLines(dir string) (all []found, err error) {
	path := filepath.Join(dir, File)
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	lines = lines[:len(lines)-1] // a last line that was not written to its end is forgotten
	if len(lines) == 0 || lines[0] != journalTitle {
		return nil, &rundir.FileError{File: path, Line: 1,
			Wrong:  "this is not the record of a memory of this version",
			Remedy: "leave the folder out"}
	}
	for i, one := range lines[1:] {
		f := found{text: one, dir: dir}
		if err := json.Unmarshal([]byte(one), &f.line); err != nil || !f.within() {
			return nil, &rundir.FileError{File: path, Line: i + 2, Wrong: "it is damaged",
				Remedy: "take the line out"}
		}
		all = append(all, f)
	}
	return all, nil
}

// within reports whether the case of a line is a folder beside the record.
func (l *line) within() bool {
	return l.Case == "" || filepath.Base(l.Case) == l.Case && l.Case != ".." && l.Case != "."
}

// merging is a record in the making.
type merging struct {
	to   string
	text []string
	seen map[string]bool
	// names are the cases that were copied, each with the folder that it was copied from; kept
	// counts those of a signature, and of a shape of it.
	names map[string]string
	kept  map[string]int
}

func (m *merging) add(f found) error {
	if m.seen[f.text] {
		return nil
	}
	m.seen[f.text] = true
	if f.Case != "" {
		name, err := m.copy(&f)
		if err != nil {
			return err
		}
		f.Case = name
	}
	text, err := json.Marshal(f.line)
	m.text = append(m.text, string(text))
	return err
}

// copy copies the case of a line, and says what it is called now; nothing when it is not kept.
func (m *merging) copy(f *found) (string, error) {
	from := filepath.Join(f.dir, f.Case)
	hash := hashOf(from)
	shape := f.Signature + "\n" + f.Shape
	another := f.Event == eventShape && m.kept[shape] == 0
	name := f.Case
	for n := 2; m.names[name] != ""; n++ {
		if hashOf(m.names[name]) == hash {
			m.kept[shape]++
			return name, nil
		}
		name = fmt.Sprintf("%s-%d", f.Case, n)
	}
	if m.kept[f.Signature] >= keptCases && !another || hash == "" {
		return "", nil
	}
	if err := os.CopyFS(filepath.Join(m.to, name), os.DirFS(from)); err != nil {
		return "", err
	}
	m.names[name] = from
	m.kept[f.Signature]++
	m.kept[shape]++
	return name, nil
}

// hashOf is the trace hash of a kept run, empty when it is not there any more.
func hashOf(folder string) string {
	env, err := rundir.ReadEnvironment(folder)
	if err != nil {
		return ""
	}
	return env.Hash
}

// Read returns the signatures of the memory in a folder without opening it, in the order in which
// they were first seen: of one that a campaign is using, as far as it was written. No memory is no
// entry.
func Read(dir string) ([]Entry, error) {
	lines, err := readLines(dir)
	if err != nil {
		return nil, err
	}
	m := &Memory{entries: make(map[string]*Entry)}
	for i := range lines {
		m.fold(&lines[i].line)
	}
	return m.Entries(), nil
}
