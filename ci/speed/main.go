// Command speed measures what a seed costs. With -write it renews the table in docs/speed.md: of
// steps and memory, or with -parts of processor time by part, from a profile. With -against COMMIT
// it runs the same seeds on a build of that commit and on this tree in turn, and fails when this
// tree takes more processor time than -most times that of the commit.
//
// Promise: steps and allocations are those of fixed seeds run by one worker, so that a test can
// hold them; times are compared as ratios of runs that follow each other on one machine, and are
// never promised.
//
// Refusal: it does not say where time is lost; profiles and ci/steps do.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// page is where the tables are kept, between these lines.
const (
	page       = "docs/speed.md"
	begin      = "<!-- speed: `make bench-table` writes these lines -->\n"
	end        = "<!-- end of speed -->\n"
	partsBegin = "<!-- parts: `make bench-parts` writes these lines -->\n"
	partsEnd   = "<!-- end of parts -->\n"
)

func main() {
	root := flag.String("root", ".", "the project's top folder")
	write := flag.Bool("write", false, "renew the table in docs/speed.md instead of printing it")
	byPart := flag.Bool("parts", false,
		"measure processor time by part instead of steps and memory")
	against := flag.String("against", "", "compare processor time with that of a commit")
	most := flag.Float64("most", 1.1, "with -against: the highest ratio that is no failure")
	runs := flag.Int("runs", 5, "with -against: how many pairs of runs")
	seeds := flag.Int("seeds", 100, "with -against: how many seeds a run has")
	flag.Parse()
	var err error
	switch {
	case *against != "":
		c := comparison{root: *root, commit: *against, runs: *runs, seeds: *seeds, most: *most}
		err = c.run()
	case *byPart:
		err = renewParts(*root, *write)
	default:
		err = renew(*root, *write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(4)
	}
}

func renew(root string, write bool) error {
	rows, err := measureAll()
	if err != nil {
		return err
	}
	return keep(root, write, tableOf(rows), begin, end)
}

func renewParts(root string, write bool) error {
	all, err := measureParts()
	if err != nil {
		return err
	}
	return keep(root, write, partsTable(all), partsBegin, partsEnd)
}

// keep writes the table between two lines of the page, or else prints it.
func keep(root string, write bool, table, begin, end string) error {
	if !write {
		fmt.Print(table)
		return nil
	}
	file := filepath.Join(root, page)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, _, ok := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(text, []byte(end))
	if !ok || !closed {
		return errors.New(page + " has no lines between which the table belongs")
	}
	return os.WriteFile(file, []byte(string(before)+begin+table+end+string(after)), 0o644)
}
