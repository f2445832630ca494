package strategies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTableReadsBack fills a table in two pieces.
func TestTableReadsBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.md")
	names := []string{"random", "sweep"}
	first, err := Read(file, names, 20)
	if err != nil {
		t.Fatal(err)
	}
	first.Set("late-start", "random", Cell{510, 13.7})
	first.Set("late-start", "sweep", Cell{})
	if err := first.Write(file); err != nil {
		t.Fatal(err)
	}
	second, err := Read(file, names, 20)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Error(diff)
	}
	second.Set("early-start", "sweep", Cell{3, 0.1})
	for _, want := range []string{
		"| early-start |  | 3 / 0.1 | 3 / 0.1 |\n",
		"| late-start | 510 / 13.7 | missed | 510 / 13.7 |\n",
		"| **median** | 510 / 13.7 | 3 / 0.1 | 3 / 0.1 |\n",
		"| **found** | 1 of 1 | 1 of 2 | 2 of 2 |\n",
	} {
		if !strings.Contains(second.String(), want) {
			t.Errorf("no row %q in\n%s", want, second)
		}
	}
	if second.Has("early-start", "random") || !second.Has("late-start", "sweep") {
		t.Error("what was measured and what was not is mixed up")
	}
}

// TestOtherFilesAreRefused leaves what is no table as it is.
func TestOtherFilesAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.md")
	if err := os.WriteFile(
		file, []byte("| known bug | random |\n| --- | --- |\n| x | soon |\n"), 0o644,
	); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file, []string{"random"}, 20); err == nil ||
		!strings.Contains(err.Error(), ":3: \"soon\" is neither") {
		t.Errorf("the error is %v", err)
	}
}

// TestMedianCountsMisses puts those that missed behind all others.
func TestMedianCountsMisses(t *testing.T) {
	for _, c := range []struct {
		of   []Cell
		want Cell
	}{
		{[]Cell{{1, 1}, {}, {}, {9, 2}, {5, 3}}, Cell{5, 3}},
		{[]Cell{{1, 1}, {}, {}, {}, {5, 3}}, Cell{}},
		{nil, Cell{}},
	} {
		if got := Median(c.of); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.of, got, c.want)
		}
	}
}
