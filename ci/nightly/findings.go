package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/failuredb"
)

// finding is a signature, and what a night knows of it.
type finding struct {
	Signature string `json:"signature"`
	Status    string `json:"status"`
	Seed      uint64 `json:"seed"`
	Build     string `json:"build"`
	// Runs is how many runs have failed so, in all nights.
	Runs int `json:"runs"`
	// Folder has its first kept run, page and smallest scenario, below the folder of the night;
	// empty unless it is news.
	Folder string `json:"folder,omitempty"`
	// Smallest says what is left of it, Broke what broke.
	Smallest string `json:"smallest,omitempty"`
	Broke    string `json:"broke,omitempty"`
	Page     string `json:"page,omitempty"`
	// Problem is what kept it from being explained.
	Problem string `json:"problem,omitempty"`
}

// isNews says whether somebody must look at it.
func (f *finding) isNews() bool {
	return f.Status == string(failuredb.New) || f.Status == string(failuredb.CameBack)
}

// entries are the signatures that the memory holds now; none before there is one.
func (n *night) entries() ([]failuredb.Entry, error) {
	if _, err := os.Stat(filepath.Join(n.memory(), failuredb.File)); err != nil {
		return nil, nil
	}
	m, err := failuredb.Open(n.memory())
	if err != nil {
		return nil, err
	}
	return m.Entries(), m.Close()
}

// lookInto takes from the memory what the night has found, and makes the news small.
func (n *night) lookInto() error {
	entries, err := n.entries()
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Status == failuredb.Fixed && n.before[e.Signature] == failuredb.Fixed {
			continue // told by the night that saw it first
		}
		f := finding{Signature: e.Signature, Status: string(e.Status), Seed: e.Last.Seed,
			Build: e.Last.Build, Runs: e.Times}
		if f.isNews() && len(e.Cases) > 0 {
			if err := n.explain(&f, e.Cases[0]); err != nil {
				f.Problem = err.Error() // what is new is told, whatever else goes wrong
			}
		}
		n.record.Findings = append(n.record.Findings, f)
	}
	return nil
}

// shrinkFor is how long the failure of one signature is shrunk; a night is longer by that.
func (n *night) shrinkFor() time.Duration { return min(n.budget/20, 10*time.Minute) }

// explain puts a kept run into a folder of its signature, with a page and the smallest scenario
// that fails so.
func (n *night) explain(f *finding, kept string) error {
	f.Folder = strings.ReplaceAll(f.Signature, "/", "--")
	folder := filepath.Join(n.folder, f.Folder)
	run := filepath.Join(folder, kept)
	if err := os.CopyFS(run, os.DirFS(filepath.Join(n.memory(), kept))); err != nil {
		return err
	}
	f.Page = filepath.Join(f.Folder, kept, "report.html")
	limit := n.shrinkFor()
	text, shrinkErr := n.within(limit+time.Minute, "shrink", "--for", limit.String(), run)
	if f.Smallest = row(text, "Smallest"); f.Smallest == "" {
		f.Problem = fmt.Sprintf("it could not be made small (%v)", shrinkErr)
	}
	// The page of a run that was shrunk begins with the smallest scenario. Its exit code says that
	// the run fails; the run has a plainer page already.
	if _, err := n.within(pageFor, "report", run); errors.Is(err, errNoTime) {
		f.Problem = "its page could not be renewed in time"
	}
	story, err := os.ReadFile(filepath.Join(run, "story.md"))
	f.Broke = row(string(story), "Broke")
	return err
}

// pageFor is how long the page of a run may take.
const pageFor = 5 * time.Minute

// within runs the tool for at most so long.
func (n *night) within(limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	text, err := n.run(ctx, n.tool, args...)
	return string(text), err
}

// row is the text of a row of a failure block, in one line.
func row(block, name string) string {
	_, rest, found := strings.Cut(block, "\n  "+name)
	if !found {
		return ""
	}
	var words []string
	for i, line := range strings.Split(rest, "\n") {
		if i > 0 && !strings.HasPrefix(line, "            ") {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}
