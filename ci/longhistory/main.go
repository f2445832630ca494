// Command longhistory measures what it costs to check a long history: it has a perfect store answer
// so many operations, keeps the history in a file, and runs `shardproof check` on it. With -write
// it rewrites the table in docs/speed.md; with -make FILE it only makes a history of -count
// operations.
//
// Promise: a history of a length is the same every time, and passes. Memory of this command does
// not grow with it.
//
// Refusal: times are of the machine and of what else runs on it, and nothing is held to them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories"
)

// page has the table, between these lines.
const (
	page  = "docs/speed.md"
	begin = "<!-- long: `make bench-long` writes these lines -->\n"
	end   = "<!-- end of long -->\n"
)

func main() {
	root := flag.String("root", ".", "the project's top folder")
	write := flag.Bool("write", false, "renew the table in docs/speed.md instead of printing it")
	counts := flag.String("counts", "100000,1000000,10000000", "how long the histories are")
	file := flag.String("make", "", "only make a history, in this file")
	count := flag.Int("count", 1_000_000, "with -make: how many operations it has")
	timed := flag.Bool("timed", false, "with -make: answers name cluster times")
	flag.Parse()
	var err error
	if *file != "" {
		err = makeHistory(*file, *count, *timed)
	} else {
		err = renew(*root, *counts, *write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "longhistory:", err)
		os.Exit(4)
	}
}

// renew measures all histories and writes or prints the table.
func renew(root, counts string, write bool) error {
	folder, err := os.MkdirTemp("", "longhistory")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	tool := filepath.Join(folder, "shardproof")
	build := exec.Command("go", "build", "-C", root, "-o", tool, "./cmd/shardproof")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the tool cannot be built: %w\n%s", err, text)
	}
	var table strings.Builder
	table.WriteString("| operations | history | file, MB | processor time, s | peak memory, MB |\n" +
		"| ---: | --- | ---: | ---: | ---: |\n")
	for text := range strings.SplitSeq(counts, ",") {
		count, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		for _, timed := range []bool{false, true} {
			row, err := measure(tool, filepath.Join(folder, "history"), count, timed)
			if err != nil {
				return err
			}
			table.WriteString(row)
		}
	}
	if !write {
		fmt.Print(table.String())
		return nil
	}
	return keep(filepath.Join(root, page), table.String())
}

// keep writes the table between two lines of a page.
func keep(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, _, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(string(text), end)
	if !ok || !closed {
		return errors.New(page + " has no lines between which the table belongs")
	}
	return os.WriteFile(page, []byte(before+begin+table+end+after), 0o644)
}

// measure makes a history, has the tool check it, and removes it.
func measure(tool, file string, count int, timed bool) (row string, err error) {
	if err := makeHistory(file, count, timed); err != nil {
		return "", err
	}
	defer os.Remove(file)
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(tool, "check", file)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("a history of a perfect store: %w\n%s", err, text)
	}
	name := "plain"
	if timed {
		name = "with cluster times"
	}
	used := cmd.ProcessState
	return fmt.Sprintf("| %d | %s | %d | %.1f | %d |\n", count, name, info.Size()/1_000_000,
		(used.UserTime() + used.SystemTime()).Seconds(), peakMemory(used)/1_000_000), nil
}

// opsOfKey is how many operations a key has, whatever the length of the history.
const opsOfKey = 1000

func makeHistory(file string, count int, timed bool) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := histories.NewWriter[histories.Op](f, histories.Header{Scenario: "longhistory"})
	if err != nil {
		return err
	}
	if err := newStore(max(10, count/opsOfKey), timed).play(count, w.Write); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
