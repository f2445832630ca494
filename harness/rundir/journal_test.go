package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJournalGoesOn writes a journal, tears its last line as a crash would, and goes on behind what
// is whole.
func TestJournalGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.txt")
	write(t, path, "one", "two")
	tear(t, path, "thr")
	if diff := cmp.Diff([]string{"one", "two"}, write(t, path, "three")); diff != "" {
		t.Errorf("lines that were there (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "search 1\none\ntwo\nthree\n" {
		t.Errorf("the journal is %q, %v", text, err)
	}
	_, err = OpenJournal(path, "search 2")
	if err == nil || !strings.Contains(
		err.Error(), `this is the journal of a different command: "search 1"`,
	) {
		t.Errorf("another search got the journal: %v", err)
	}
}

// TestJournalOfOne: two searches at a time cannot share a journal.
func TestJournalOfOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.txt")
	j, err := OpenJournal(path, "search 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, "search 1"); err == nil ||
		!strings.Contains(err.Error(), "another process is using it") {
		t.Errorf("the journal was opened twice: %v", err)
	}
	j.Append("one")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one"}, write(t, path)); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, path string, lines ...string) (there []string) {
	t.Helper()
	j, err := OpenJournal(path, "search 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		j.Append(l)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return j.Lines
}

func tear(t *testing.T, path, half string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(half); err != nil {
		t.Fatal(err)
	}
}
