package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTable: steps of a seed are exactly those of docs/speed.md, allocations nearly.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("instrumented builds allocate more")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := measureAll()
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Fields(strings.ReplaceAll(line, "|", " "))
		if len(cells) == 4 {
			kept[cells[0]] = cells[1:]
		}
	}
	for _, r := range rows {
		if diff := r.differs(kept[r.name]); diff != "" {
			t.Errorf("%s: %s; if that is meant, run `make bench-table` and commit it", r.name, diff)
		}
	}
}

func TestDiffers(t *testing.T) {
	r := row{"x", 100, 1000, 10_000}
	for _, cells := range [][]string{nil, {"101", "1000", "10000"}, {"100", "960", "10000"},
		{"100", "1000", "10400"}, {"100", "1000", "?"}} {
		if r.differs(cells) == "" {
			t.Errorf("%v is taken for %+v", cells, r)
		}
	}
	if diff := r.differs([]string{"100", "1020", "9800"}); diff != "" {
		t.Error(diff)
	}
}
