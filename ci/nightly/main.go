// Command nightly looks for failures for a given time, and remembers from night to night what it
// found: known bugs that must be found, the suites of real clusters, a campaign, sweeps. What is
// new it shrinks and explains, in a report that begins with a paragraph for an issue.
//
// Promise: a night is red when a signature is new or came back, or when a part fails; what is known
// is told and leaves it green. What a part has found is kept when a later one fails, or the night
// is killed.
//
// Refusal: it judges no run: the tool does that, and the memory says what is new.
//
// Exit codes: 0 nothing new, 1 something is new, came back, or a part failed, 4 the night could not
// be carried out, 64 wrong flags.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/rundir"
)

const (
	exitRed    = 1
	exitFailed = 4
	exitUsage  = 64
)

// night is one night in progress.
type night struct {
	root, tool, out string
	budget          time.Duration
	// campaign are flags for the campaign, in place of the seeds of the night.
	campaign []string
	number   int
	begun    time.Time
	folder   string // of this night
	// before is what earlier nights knew.
	before map[string]failuredb.Status
	record record
}

// record is what a night leaves for those who look at many.
type record struct {
	Night int       `json:"night"`
	At    time.Time `json:"at"`
	Build string    `json:"build"`
	Red   bool      `json:"red"`
	// Seeds and Failures are of the campaign.
	Seeds    int       `json:"seeds"`
	Failures int       `json:"failures"`
	Parts    []part    `json:"parts"`
	Findings []finding `json:"findings"`
}

const nightSchema = "shardproof.night/1"

func main() {
	n := &night{begun: time.Now()}
	parts, more := "", ""
	flag.StringVar(&n.root, "root", ".", "the project's top folder")
	flag.StringVar(&n.tool, "tool", "bin/shardproof", "the program")
	flag.StringVar(&n.out, "out", "out/nightly", "the folder that lasts from night to night")
	flag.DurationVar(&n.budget, "for", 4*time.Hour, "how long the night is")
	flag.StringVar(&parts, "parts", strings.Join(partNames(), ","), "what is done")
	flag.StringVar(&more, "campaign", "",
		"flags for the campaign, in place of seeds that no night has run")
	flag.Parse()
	n.campaign = strings.Fields(more)
	if flag.NArg() > 0 || n.budget <= 0 {
		fmt.Fprintln(os.Stderr, "nightly takes flags only, and -for must be more than 0s; see -h")
		os.Exit(exitUsage)
	}
	chosen, err := chooseParts(parts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightly:", err)
		os.Exit(exitUsage)
	}
	if err := n.do(chosen); err != nil {
		fmt.Fprintln(os.Stderr, "nightly:", err)
		os.Exit(exitFailed)
	}
	if n.record.Red {
		os.Exit(exitRed)
	}
}

// do carries out the parts, then looks into what they found, and reports.
func (n *night) do(parts []partOf) error {
	if err := n.prepare(); err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(context.Background(), n.begun.Add(n.budget))
	defer cancel()
	for _, p := range parts {
		fmt.Printf("night %d: %s\n", n.number, p.name)
		n.carryOut(ctx, p)
		if err := n.save(); err != nil {
			return err
		}
	}
	if err := n.lookInto(); err != nil {
		return err
	}
	n.record.Red = n.isRed()
	text := n.report()
	if err := errors.Join(n.save(), n.write("report.md", text)); err != nil {
		return err
	}
	if err := rundir.Replace(filepath.Join(n.out, "report.md"), []byte(text)); err != nil {
		return err
	}
	fmt.Println()
	fmt.Print(text)
	return nil
}

// prepare makes the folder of the night: the one after the last.
func (n *night) prepare() (err error) {
	for _, path := range []*string{&n.root, &n.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if !filepath.IsAbs(n.tool) {
		n.tool = filepath.Join(n.root, n.tool)
	}
	for n.number = 1; ; n.number++ {
		n.folder = filepath.Join(n.out, fmt.Sprintf("night-%04d", n.number))
		if _, err := os.Stat(n.folder); errors.Is(err, os.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
	}
	entries, err := n.entries()
	if err != nil {
		return err
	}
	n.before = make(map[string]failuredb.Status)
	for _, e := range entries {
		n.before[e.Signature] = e.Status
	}
	n.record = record{Night: n.number, At: n.begun.UTC().Truncate(time.Second)}
	return os.MkdirAll(n.folder, 0o755)
}

func (n *night) save() error {
	return rundir.WriteKept(filepath.Join(n.folder, "night.json"), nightSchema, n.record)
}

func (n *night) write(name, text string) error {
	return rundir.Replace(filepath.Join(n.folder, name), []byte(text))
}

func (n *night) memory() string { return filepath.Join(n.out, "memory") }

// isRed says whether somebody must look at the night.
func (n *night) isRed() bool {
	for _, f := range n.record.Findings {
		if f.isNews() {
			return true
		}
	}
	for _, p := range n.record.Parts {
		if p.Failed {
			return true
		}
	}
	return false
}

// readJSON reads what the tool prints with --json.
func readJSON(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the tool printed no JSON: %w", err)
	}
	return nil
}
