package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/harness/rundir"
)

// What a campaign leaves in its folder: a journal with a line for every seed that is finished, and
// what the seeds of the journal did together. A process that is killed between the two writes of a
// seed has lost nothing but the time of a second: what the tally does not count is run again.
const (
	JournalFile = "campaign.txt"
	TallyFile   = "campaign.json"
	TallySchema = "shardproof.campaign/2"
	// JournalTitle begins every journal.
	JournalTitle = "shardproof campaign "
)

// Plan is what a campaign runs, and by which build.
type Plan struct {
	// Build tells programs apart.
	Build string
	// First is the first seed.
	First             uint64
	Profile, Protocol string
	// Set are the settings of every scenario, as name=value.
	Set []string
}

// Title is the first line of the journal of the plan.
func (p Plan) Title() string {
	return fmt.Sprintf(
		JournalTitle+"2: build %q, first seed %d, profile %s, protocol %s, set %q",
		p.Build, p.First, p.Profile, p.Protocol, p.Set,
	)
}

// parsePlan reads a title. The settings are kept as they are written: they are only compared.
func parsePlan(title string) (p Plan, err error) {
	rest, set, _ := strings.Cut(strings.TrimPrefix(title, JournalTitle), ", set ")
	if _, err := fmt.Sscanf(strings.ReplaceAll(rest, ",", " ,"),
		"2: build %q , first seed %d , profile %s , protocol %s", &p.Build, &p.First, &p.Profile,
		&p.Protocol); err != nil {
		return p, fmt.Errorf("%q is not the title of a campaign of this version", title)
	}
	p.Set = settingsOf(set)
	return p, nil
}

// settingsOf takes a list of quoted settings apart.
func settingsOf(list string) (set []string) {
	list = strings.TrimSuffix(strings.TrimPrefix(list, "["), "]")
	for list != "" {
		quoted, err := strconv.QuotedPrefix(list)
		if err != nil {
			return append(set, list)
		}
		one, _ := strconv.Unquote(quoted)
		set = append(set, one)
		list = strings.TrimPrefix(list[len(quoted):], " ")
	}
	return set
}

// Outcome is what came of a seed.
type Outcome struct {
	Seed uint64
	// Hash is the trace hash of its run.
	Hash string
	// Kind is the signature of its failure, empty when every promise held.
	Kind string
}

// held stands in the journal for a seed of which every promise held.
const held = "held"

// String is the line of a journal.
func (o Outcome) String() string {
	kind := o.Kind
	if kind == "" {
		kind = held
	}
	return fmt.Sprintf("%d %s %s", o.Seed, o.Hash, kind)
}

// ParseOutcome reads the line of a journal.
func ParseOutcome(line string) (Outcome, error) {
	words := strings.SplitN(line, " ", 3)
	if len(words) == 3 {
		if seed, err := strconv.ParseUint(words[0], 10, 64); err == nil {
			o := Outcome{Seed: seed, Hash: words[1], Kind: words[2]}
			if o.Kind == held {
				o.Kind = ""
			}
			return o, nil
		}
	}
	return Outcome{}, fmt.Errorf("%q is not a seed, its trace hash and how it ended", line)
}

// Record is what the folder of a campaign holds.
type Record struct {
	Folder string
	Plan
	// Outcomes are those that Tally counts, in the order in which they ended.
	Outcomes []Outcome
	Tally    *Tally
}

// ReadRecord reads the folder of a campaign, which may still be running: what its tally does not
// count yet is left out.
func ReadRecord(folder string) (*Record, error) {
	path := filepath.Join(folder, JournalFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a folder of run --memory: %w", folder, err)
	}
	r := &Record{Folder: folder, Tally: &Tally{Sum: NewSums()}}
	if _, err := rundir.ReadKept(
		filepath.Join(folder, TallyFile), TallySchema, r.Tally,
	); err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	lines = lines[:len(lines)-1] // what is behind the last line end was not written to its end
	if len(lines) == 0 {
		return nil, &rundir.FileError{File: path, Wrong: "it is empty", Remedy: "run the campaign"}
	}
	if r.Plan, err = parsePlan(lines[0]); err != nil {
		return nil, &rundir.FileError{File: path, Line: 1, Wrong: err.Error(),
			Remedy: "run the campaign again with this version"}
	}
	if lines = lines[1:]; len(lines) < r.Tally.Seeds {
		return nil, &rundir.FileError{File: path,
			Wrong: fmt.Sprintf("it has %d seeds, but %s counts %d", len(lines), TallyFile,
				r.Tally.Seeds),
			Remedy: "copy the folder again from where it was written"}
	}
	for i, line := range lines[:r.Tally.Seeds] {
		o, err := ParseOutcome(line)
		if err != nil {
			return nil, &rundir.FileError{File: path, Line: i + 2, Wrong: err.Error(),
				Remedy: "copy the folder again from where it was written"}
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	return r, nil
}

// Write writes the record into a folder that holds none.
func (r *Record) Write() error {
	lines := []string{r.Title()}
	for _, o := range r.Outcomes {
		lines = append(lines, o.String())
	}
	err := rundir.Replace(filepath.Join(r.Folder, JournalFile),
		[]byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	return rundir.WriteKept(filepath.Join(r.Folder, TallyFile), TallySchema, r.Tally)
}
