// Command reach lists the code blocks of the store (system/) that generated scenarios reach fewer
// than -least times in all seeds together: it builds the command line with block counters and runs
// seeds of the standard profile. Where nothing ever comes, no checker finds a bug.
//
// Promise: the counts are Go's own, over whole runs with all checkers. A block that does nothing
// but return an error that it was given is left out: which errors reach a caller is another
// question.
//
// Refusal: it judges nothing. A block that is reached often may still not be reached in the state
// that matters; known bugs and mutants measure that.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"
)

const (
	module = "github.com/shardproof/shardproof/"
	store  = module + "system/"
)

func main() {
	seeds := flag.Int("seeds", 1500, "how many seeds of the standard profile are run")
	least := flag.Int("least", 5,
		"list blocks that ran fewer than this many times, over all seeds together")
	under := flag.String("under", "", "list only files whose path under system/ begins like this")
	flag.Parse()
	if err := reach(*seeds, *least, *under); err != nil {
		fmt.Fprintln(os.Stderr, "reach:", err)
		os.Exit(4)
	}
}

func reach(seeds, least int, under string) error {
	dir, err := os.MkdirTemp("", "reach")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	profiles, err := profile(dir, seeds)
	if err != nil {
		return err
	}
	for _, p := range profiles {
		path, inStore := strings.CutPrefix(p.FileName, store)
		if !inStore || !strings.HasPrefix(path, under) {
			continue
		}
		if err := list(p, path, least); err != nil {
			return err
		}
	}
	return nil
}

// profile runs the seeds and reads what the counters say.
func profile(dir string, seeds int) ([]*cover.Profile, error) {
	tool, counts := filepath.Join(dir, "shardproof"), filepath.Join(dir, "counts")
	text := filepath.Join(dir, "profile.txt")
	if err := os.Mkdir(counts, 0o755); err != nil {
		return nil, err
	}
	steps := [][]string{
		// The command counts as well, as otherwise nothing writes the counters at its end.
		{"go", "build", "-cover", "-covermode=count", "-coverpkg=./system/...,./cmd/shardproof",
			"-o", tool, "./cmd/shardproof"},
		{tool, "run", "--seeds", fmt.Sprint(seeds), "--again", "0",
			"--out", filepath.Join(dir, "out")},
		{"go", "tool", "covdata", "textfmt", "-i=" + counts, "-o", text},
	}
	for _, step := range steps {
		c := exec.Command(step[0], step[1:]...)
		c.Env = append(os.Environ(), "GOCOVERDIR="+counts)
		c.Stderr = os.Stderr
		if out, err := c.Output(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(step, " "), err, out)
		}
	}
	return cover.ParseProfiles(text)
}

// list prints the blocks of a file that ran too seldom, each with its count and its first line.
func list(p *cover.Profile, path string, least int) error {
	source, err := os.ReadFile(filepath.Join("system", path))
	if err != nil {
		return err
	}
	lines := strings.Split(string(source), "\n")
	slices.SortFunc(p.Blocks, func(a, b cover.ProfileBlock) int { return a.StartLine - b.StartLine })
	for _, b := range p.Blocks {
		if text := within(lines, &b); b.Count < least && !handsOn(text) {
			fmt.Printf("%4d  system/%s:%d  %s\n", b.Count, path, b.StartLine, text)
		}
	}
	return nil
}

// within is the text of a block behind its opening brace, on one line.
func within(lines []string, b *cover.ProfileBlock) string {
	all := slices.Clone(lines[b.StartLine-1 : b.EndLine])
	all[len(all)-1] = all[len(all)-1][:b.EndCol-1]
	all[0] = all[0][b.StartCol-1:]
	text := strings.Join(strings.Fields(strings.Join(all, " ")), " ")
	return strings.TrimSpace(strings.Trim(text, "{}"))
}

// handsOn reports whether a block does nothing but return an error that it was given.
func handsOn(text string) bool {
	return strings.HasPrefix(text, "return") && strings.HasSuffix(text, "err") &&
		!strings.Contains(text, "(")
}
