package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/ci/knownbugs/markdown"
)

// tableTitle begins the file of how known bugs are found.
const tableTitle = "| known bug | hazard | what is broken | found by | at seed | CPU s |\n" +
	"| --- | --- | --- | --- | --- | --- |\n"

// keepTable writes how bugs were found to a Markdown table. Rows of known bugs that were not hunted
// stay, so that a table can be filled in pieces; those of bugs that are gone leave it.
func keepTable(file, root string, finds []find) error {
	rows := map[string][]string{}
	err := markdown.Rows(file, func(fields []string) error {
		about := filepath.Join(root, "ci", "knownbugs", "bugs", fields[0], "about.txt")
		if _, err := os.Stat(about); err == nil {
			rows[fields[0]] = fields
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range finds {
		rows[f.bug.Name] = f.fields()
	}
	var b strings.Builder
	b.WriteString(tableTitle)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(rows[name], " | "))
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// fields are the find's row of the table.
func (f *find) fields() []string {
	return []string{
		f.bug.Name, f.bug.Hazard, f.bug.Title, strings.Join(f.seen, ", "), fmt.Sprint(f.seed),
		fmt.Sprintf("%.1f", f.cpu.Seconds()),
	}
}

// judgeAll hunts every bug and prints one line for each. The table, if there is to be one, is
// written after each find, so that an interruption loses little.
func judgeAll(bugs []knownbugs.Bug, root, scratch, table string) (int, error) {
	var finds []find
	missed := false
	fmt.Println(tableHeader)
	for _, hunted := range huntAll(bugs, root, scratch) {
		f := <-hunted
		if f.err != nil {
			return exitFailed, f.err
		}
		fmt.Println(f.row())
		if missed = missed || f.missed != ""; f.missed != "" || table == "" {
			continue
		}
		finds = append(finds, f.find)
		if err := keepTable(table, root, finds); err != nil {
			return exitFailed, err
		}
	}
	if missed {
		return exitMissed, errors.New(
			"a known bug was not found as it should be: shardproof's verdicts cannot be trusted " +
				"until it is",
		)
	}
	return 0, nil
}
