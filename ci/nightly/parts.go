package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/cmd/cli/results"
	"github.com/shardproof/shardproof/harness/failuredb"
)

// part is what came of one part of a night.
type part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	// Failed is true when the part itself failed, other than by a signature.
	Failed bool `json:"failed"`
	// Says is a sentence about it.
	Says string `json:"says"`
}

// partOf is a part that a night may have. It gets a share of the time that is left.
type partOf struct {
	name  string
	share float64
	do    func(n *night, ctx context.Context) (says string, err error)
}

// allParts are in the order in which they are done. The campaign comes before the sweeps: it begins
// the night in the memory. What comes after the last part is shrinking.
var allParts = []partOf{
	{"known bugs", 0.2, (*night).knownBugs},
	{"driver-suite", 0.2, (*night).driverSuite},
	{"kills", 0.15, (*night).kills},
	{"attack", 0.2, (*night).attack},
	{"campaign", 0.6, (*night).seeds},
	{"sweeps", 0.5, (*night).sweeps},
}

func partNames() (names []string) {
	for _, p := range allParts {
		names = append(names, p.name)
	}
	return names
}

func chooseParts(list string) (chosen []partOf, err error) {
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(partNames(), name) {
			return nil, fmt.Errorf("there is no part %q; the parts are %s", name,
				strings.Join(partNames(), ", "))
		}
	}
	for _, p := range allParts {
		if slices.Contains(names, p.name) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// carryOut does a part within its share of the time, and notes what came of it.
func (n *night) carryOut(ctx context.Context, p partOf) {
	left := time.Until(n.begun.Add(n.budget))
	share, cancel := context.WithTimeout(ctx, time.Duration(float64(left)*p.share))
	defer cancel()
	begun := time.Now()
	says, err := p.do(n, share)
	done := part{Name: p.name, Says: says}
	switch {
	case errors.Is(err, errNoTime):
		done.Says = "stopped, without a result, when its share of the time was over"
	case err != nil:
		done.Failed, done.Says = true, err.Error()
	}
	done.Seconds = time.Since(begun).Seconds()
	n.record.Parts = append(n.record.Parts, done)
}

// errNoTime says that a part was stopped because its time was over.
var errNoTime = errors.New("the time was over")

// knownBugs looks for some of the known bugs, others every night.
func (n *night) knownBugs(ctx context.Context) (string, error) {
	bugs, err := knownbugs.Load(filepath.Join(n.root, "ci", "knownbugs", "bugs"))
	if err != nil {
		return "", err
	}
	bugs = slices.DeleteFunc(bugs, func(b knownbugs.Bug) bool { return b.Seeds > gateSeeds })
	until, _ := ctx.Deadline()
	most := min(len(bugs), max(1, int(time.Until(until)/timeOfBug)))
	var names []string
	for i := range most {
		names = append(names, bugs[(n.number*most+i)%len(bugs)].Name)
	}
	if _, err := n.run(ctx, "go", "run", "./ci/gate", "-bug",
		strings.Join(names, ",")); err != nil {
		return "", err
	}
	return fmt.Sprintf("all %d that were searched were found within their budgets (%d are "+
		"searched in turn): %s", most, len(bugs), strings.Join(names, ", ")), nil
}

// A night looks for the known bugs that so many seeds must find; one takes about so long.
const (
	gateSeeds = 200
	timeOfBug = 30 * time.Second
)

// timeOfKill is about how long a kill and the recovery from it take.
const timeOfKill = 6 * time.Second

func (n *night) driverSuite(ctx context.Context) (string, error) {
	return n.make(ctx, "driver-suite")
}

func (n *night) kills(ctx context.Context) (string, error) {
	until, _ := ctx.Deadline()
	most := max(3, int(time.Until(until)/timeOfKill))
	return n.make(ctx, "kills", fmt.Sprintf("KILLS=%d", most))
}

// attackAround is what an attack needs besides its length: its controls, starting servers, checks.
const attackAround = 75 * time.Second

// attack attacks servers of the night's program for the share of its time. What they broke has no
// seed that replays it: the part fails, and its folder has the history and a page.
func (n *night) attack(ctx context.Context) (string, error) {
	until, _ := ctx.Deadline()
	load := max(time.Until(until)-attackAround, 10*time.Second).Round(time.Second)
	doc, err := n.shardproof(ctx, "attack", "--for", load.String(), "--seed", fmt.Sprint(n.number),
		"--out", filepath.Join(n.folder, "attack"), "--junit", filepath.Join(n.folder, "attack.xml"))
	if doc == nil {
		return "", err
	}
	for i := range doc.Cases {
		one := &doc.Cases[i]
		if _, pageErr := n.within(pageFor, "report", one.Folder); errors.Is(pageErr, errNoTime) {
			err = errors.Join(err, pageErr)
		}
		if one.Outcome == string(checkers.Fail) {
			err = errors.Join(err, fmt.Errorf("%s broke a promise: %s (%s)", one.Name,
				cmp.Or(one.Broke, one.Promise), one.Folder))
		}
	}
	return fmt.Sprintf("%d operations in %d runs, controls included; %d undecided",
		int(doc.Counts["operations"]), len(doc.Cases), int(doc.Counts["undecided"])), err
}

// make makes a target, if there is one of that name.
func (n *night) make(ctx context.Context, target string, values ...string) (string, error) {
	text, err := os.ReadFile(filepath.Join(n.root, "Makefile"))
	if err != nil {
		return "", err
	}
	if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(text) {
		return "left out: the Makefile has no such target", nil
	}
	out, err := n.run(ctx, "make", append([]string{"--no-print-directory", target}, values...)...)
	if err != nil {
		return "", err
	}
	return lastLine(out), nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// run runs a command in the project's top folder. Its output is kept in the folder of the night.
func (n *night) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = n.root
	c.WaitDelay = 10 * time.Second
	interruptGroup(c)
	text, err := c.CombinedOutput()
	log := fmt.Sprintf("$ %s\n%s\n", strings.Join(c.Args, " "), text)
	if more := n.log(log); more != nil {
		return text, more
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return text, errNoTime
	case err != nil:
		return text, fmt.Errorf("`%s` failed (%w): %s", strings.Join(c.Args, " "), err,
			lastLine(text))
	}
	return text, nil
}

func (n *night) log(text string) error {
	file, err := os.OpenFile(filepath.Join(n.folder, "log.txt"),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// shardproof runs the tool for at most so long as the context lasts, and reads what it found.
// Findings are no error.
func (n *night) shardproof(ctx context.Context, args ...string) (*results.Document, error) {
	var doc results.Document
	c := exec.CommandContext(ctx, n.tool, append(args, "--json")...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	c.Dir, c.Stderr = n.out, os.Stderr
	text, err := c.Output()
	if c.ProcessState == nil {
		return nil, err
	}
	if err := n.log(fmt.Sprintf("$ %s\n%s\n", strings.Join(c.Args, " "), text)); err != nil {
		return nil, err
	}
	if err := readJSON(text, &doc); err != nil {
		return nil, fmt.Errorf("shardproof %s: %w", strings.Join(args, " "), err)
	}
	if doc.Exit > 2 && doc.Exit != 130 {
		return &doc, fmt.Errorf("shardproof %s ended with exit code %d: %s",
			strings.Join(args, " "), doc.Exit, doc.Error)
	}
	return &doc, nil
}

// wrapUp is what a command needs to tell what it has found.
const wrapUp = 3 * time.Second

// usable is the time until then for a command that must also tell what it has found.
func usable(until time.Time) string {
	return max(time.Until(until)-wrapUp, time.Second).Round(time.Second).String()
}

// seedsOfNight is the distance between the first seeds of two nights.
const seedsOfNight = 10_000_000

// seeds is the campaign of the night, with the memory of those before.
func (n *night) seeds(ctx context.Context) (string, error) {
	until, _ := ctx.Deadline()
	args := []string{"run", "--memory", n.memory(), "--keep-going", "--max-failures", "100",
		"--junit", filepath.Join(n.folder, "campaign.xml")}
	if len(n.campaign) > 0 {
		args = append(args, n.campaign...)
	} else {
		args = append(args, "--first-seed", fmt.Sprint(n.number*seedsOfNight),
			"--for", usable(until))
	}
	doc, err := n.shardproof(ctx, args...)
	if doc == nil {
		return "", err
	}
	n.record.Build = doc.Build
	n.record.Seeds, n.record.Failures = int(doc.Counts["runs"]), int(doc.Counts["failures"])
	for _, name := range []string{"campaign.txt", "campaign.json"} {
		text, readErr := os.ReadFile(filepath.Join(n.memory(), name))
		if readErr == nil {
			readErr = n.write(name, string(text))
		}
		err = errors.Join(err, readErr)
	}
	return fmt.Sprintf("%d seeds, %d failed", n.record.Seeds, n.record.Failures), err
}

// swept are the scenarios that nights sweep in turn.
var swept = [][]string{
	{"migration"}, {"--protocol", "4.2", "migration"}, {"move-primary"}, {"deletion"},
}

// sweeps sweeps one of the scenarios. What fails goes into the memory, like that of the campaign.
func (n *night) sweeps(ctx context.Context) (string, error) {
	until, _ := ctx.Deadline()
	what := swept[n.number%len(swept)]
	args := append([]string{"sweep", "--keep-going", "--out", filepath.Join(n.folder, "sweep"),
		"--for", usable(until)}, what...)
	doc, err := n.shardproof(ctx, args...)
	if doc == nil {
		return "", err
	}
	for i := range doc.Cases {
		if more := n.remember(&doc.Cases[i]); more != nil {
			return "", more
		}
	}
	return fmt.Sprintf("%s: %d of %d runs, %d failed", strings.Join(what, " "),
		int(doc.Counts["runs"]), int(doc.Counts["runs in all"]), len(doc.Cases)), err
}

// remember tells the memory of a failure that the campaign did not find.
func (n *night) remember(c *results.Case) error {
	if c.Folder == "" || c.Kind == "" {
		return nil
	}
	m, err := failuredb.Open(n.memory())
	if err != nil {
		return err
	}
	name := ""
	if m.Wants(c.Kind) {
		name = fmt.Sprintf("sweep-%04d-%s", n.number, filepath.Base(c.Folder))
		err = os.CopyFS(filepath.Join(n.memory(), name), os.DirFS(c.Folder))
	}
	if err == nil {
		_, err = m.Failed(c.Kind, failuredb.Sighting{At: n.record.At, Build: n.record.Build,
			Seed: c.Seed}, name)
	}
	return errors.Join(err, m.Close())
}
