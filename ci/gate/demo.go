package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/shardproof/shardproof/ci/knownbugs"
)

// What a demonstration leaves, so that a reader can go on with the commands that it prints: the
// build with the bug, and the failing run. Both are below the project's top folder.
const (
	demoTool = "bin/shardproof-demo"
	demoRuns = "out/demo"
	// demoProfile and demoSeed are where the campaign begins: a little before a lost document, which
	// is easier to understand than what other seeds meet.
	demoProfile = "single-fault-kind"
	demoSeed    = 3340
)

// demonstrateBug lets a newcomer see a failure found, explained and replayed, and the same scenario
// pass without the bug.
func demonstrateBug(b *knownbugs.Bug, root, scratch string) (int, error) {
	fmt.Printf("A build with one known bug: %s\n\n", b.Title)
	if err := os.RemoveAll(filepath.Join(root, demoRuns)); err != nil {
		return exitFailed, err
	}
	if err := buildToolAt(b, root, scratch, filepath.Join(root, demoTool)); err != nil {
		return exitFailed, err
	}
	if runShown(root, demoTool, "run", "--profile", demoProfile,
		"--first-seed", fmt.Sprint(demoSeed), "--seeds", fmt.Sprint(b.Seeds), "--out", demoRuns) == nil {
		return exitMissed, fmt.Errorf("%s was not found in %d seeds", b.Name, b.Seeds)
	}
	folders, err := filepath.Glob(filepath.Join(root, demoRuns, "*"))
	if err != nil || len(folders) == 0 {
		return exitFailed, fmt.Errorf("no failing run was kept in %s (%v)", demoRuns, err)
	}
	kept := filepath.Join(demoRuns, filepath.Base(folders[0]))
	return compareBuilds(root, scratch, kept)
}

// compareBuilds replays a kept run on the build that has the bug, and its scenario on one without.
func compareBuilds(root, scratch, kept string) (int, error) {
	fmt.Printf("\nThe stored run, replayed on the same build:\n\n")
	if runShown(root, demoTool, "replay", "--explain", kept) == nil {
		return exitFailed, errors.New("the stored failure passes when it is replayed")
	}
	none := knownbugs.Bug{Name: "healthy"}
	healthy, err := buildTool(&none, root, filepath.Join(scratch, "healthy"))
	if err != nil {
		return exitFailed, err
	}
	fmt.Printf("\nThe same scenario on a build without the bug:\n\n")
	if err := runShown(root, healthy, "replay", filepath.Join(kept, "scenario.txt")); err != nil {
		return exitFailed, fmt.Errorf("the scenario fails without the bug: %w", err)
	}
	return 0, nil
}

// runShown runs a tool in the top folder and shows what it prints. The tool is called by the path
// that a reader in that folder gives, since it prints commands that begin with it.
func runShown(root, tool string, args ...string) error {
	cmd := exec.Command(tool, args...)
	if !filepath.IsAbs(tool) {
		cmd.Path = filepath.Join(root, tool)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stdout, os.Stderr
	return cmd.Run()
}
