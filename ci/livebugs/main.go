// Command livebugs builds known bugs into the servers, has them run as processes, and attacks them:
// what the simulation finds in a seed, an attack on real servers must find, too.
//
// Promise: it fails when a bug is not found within its budget by a checker that should see it, and
// prints how long each took. The program that attacks and judges has no bug.
//
// Refusal: only bugs of the list are tried: many of the catalog show only inside of a node, where
// an attack does not look.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/harness/rundir"
)

var (
	only   = flag.String("bugs", "", "names with commas between; empty: all of the list")
	budget = flag.Duration("budget", 10*time.Minute, "how long a bug may be attacked")
	each   = flag.Duration("for", 45*time.Second, "how long an attack lasts")
	tool   = flag.String("tool", "bin/shardproof", "the program that attacks")
	out    = flag.String("out", "out/livebugs", "where the programs and the runs are kept")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "livebugs:", err)
		os.Exit(1)
	}
}

// live is a bug with the attack that suits it: what it needs happens seldom by itself.
type live struct {
	name, about string
	flags       []string
	// schedule is the file of one by hand, instead of those of seeds.
	schedule string
}

var list = []live{
	{"reloads-before-deletes", "lost write", moving, ""},
	{"capture-after-scan", "lost write", moving, ""},
	{"writes-not-blocked", "lost write", moving, ""},
	{"unfiltered-scans", "scan", append(moving, "--set", "orphanCleanupDelaySecs=3s"), ""},
	{"history-not-sent", "session", moving, ""},
	{"new-history-not-sent", "session", moving, ""},
	{"late-commit-not-fenced", "fencing", nil, "ci/livebugs/schedules/late-commit.txt"},
}

// moving is an attack that moves much and harms nobody.
var moving = []string{"--faults", "none", "--moves", "300ms"}

func run() error {
	bugs, err := knownbugs.Load("ci/knownbugs/bugs")
	if err != nil {
		return err
	}
	var missed []string
	for _, l := range list {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), l.name) {
			continue
		}
		i := slices.IndexFunc(bugs, func(b knownbugs.Bug) bool { return b.Name == l.name })
		if i < 0 {
			return fmt.Errorf("there is no known bug %s", l.name)
		}
		found, err := l.hunt(&bugs[i])
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		if !found {
			missed = append(missed, l.name)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("not found within %s: %s", *budget, strings.Join(missed, ", "))
	}
	return nil
}

// build is the program with the bug.
func build(b *knownbugs.Bug) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp("", "shardproof-livebugs-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	overlay, err := b.Overlay(root, scratch)
	if err != nil {
		return "", err
	}
	program, err := filepath.Abs(filepath.Join(*out, "shardproof-"+b.Name))
	if err != nil {
		return "", err
	}
	text, err := exec.Command("go", "build", "-overlay", overlay, "-o", program,
		"./cmd/shardproof").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("it does not build: %w: %s", err, text)
	}
	return program, nil
}

// hunt attacks until the bug is found or the budget is used up.
func (l *live) hunt(b *knownbugs.Bug) (bool, error) {
	program, err := build(b)
	if err != nil {
		return false, err
	}
	began := time.Now()
	for seed := 1; time.Since(began) < *budget; seed++ {
		seen, err := l.attack(program, seed)
		if err != nil {
			return false, err
		}
		for _, one := range seen {
			if slices.Contains(b.Seen, one) {
				fmt.Printf("%-26s %-10s found by %s after %s, in attack %d\n", l.name, l.about,
					strings.Join(seen, ", "), time.Since(began).Round(time.Second), seed)
				return true, nil
			}
		}
	}
	fmt.Printf("%-30s %-10s not found in %s\n", l.name, l.about,
		time.Since(began).Round(time.Second))
	return false, nil
}

// attack is one attack; it returns the checkers that failed.
func (l *live) attack(program string, seed int) (seen []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), *each+5*time.Minute)
	defer cancel()
	folder := filepath.Join(*out, l.name)
	args := []string{"attack", "--program", program, "--controls", "0s", "--out", folder}
	if l.schedule != "" {
		args = append(args, "--schedule", l.schedule)
	} else {
		args = append(args, "--seed", fmt.Sprint(seed), "--for", each.String())
	}
	args = append(args, l.flags...)
	var text bytes.Buffer
	c := exec.CommandContext(ctx, *tool, args...)
	c.Stdout, c.Stderr = &text, &text
	err = c.Run()
	ended, ran := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil, nil
	case !ran || ended.ExitCode() > 2:
		return nil, fmt.Errorf("%w: %s", err, text.String())
	}
	return failed(&text)
}

// failed reads the verdicts of the run that the command's first line names.
func failed(text *bytes.Buffer) (seen []string, err error) {
	words := strings.Fields(text.String())
	if len(words) < 2 {
		return nil, fmt.Errorf("the attack has printed no folder: %s", text)
	}
	content, err := os.ReadFile(filepath.Join(words[1], rundir.VerdictFile))
	if err != nil {
		return nil, err
	}
	var all struct {
		Verdict []struct{ Checker, Outcome string }
	}
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, err
	}
	for _, v := range all.Verdict {
		if v.Outcome == "fail" {
			seen = append(seen, v.Checker)
		}
	}
	return seen, nil
}
