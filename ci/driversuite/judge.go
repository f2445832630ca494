package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// expectedText lists the failures that are expected, a line each: "folder/test # reason". A test
// may end with *, which stands for anything.
//
//go:embed expected.txt
var expectedText string

// expected are the reasons of expected failures, by folder and test.
type expected map[string]string

func readExpected() (expected, error) {
	want := expected{}
	for line := range strings.Lines(expectedText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		test, reason, ok := strings.Cut(line, " # ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("an expected failure has no reason: %q", line)
		}
		want[strings.TrimSpace(test)] = reason
	}
	return want, nil
}

// find is the entry that a test is expected to fail by.
func (e expected) find(test string) (entry string, ok bool) {
	if _, ok := e[test]; ok {
		return test, true
	}
	for entry := range e {
		if start, any := strings.CutSuffix(entry, "*"); any && strings.HasPrefix(test, start) {
			return entry, true
		}
	}
	return "", false
}

// tally counts the outcomes of a folder.
type tally struct{ passed, expected, skipped, unexpected int }

// judge runs the folders and compares; it prints a row for each and every difference.
func (s *suite) judge(
	ctx context.Context, uri, only string, list bool, want expected,
) (same bool, err error) {
	used := map[string]bool{}
	var sum tally
	same = true
	fmt.Printf("%-24s %8s %18s %8s %11s\n", "folder", "passed", "expected failures", "skipped",
		"unexpected")
	for _, f := range folders {
		if !strings.Contains(f.name, only) {
			continue
		}
		all, err := s.test(ctx, f, uri)
		if err != nil {
			return false, err
		}
		var n tally
		for _, o := range all {
			n.add(f, o, want, used, list)
		}
		fmt.Printf("%-24s %8d %18d %8d %11d\n", f.name, n.passed, n.expected, n.skipped,
			n.unexpected)
		sum.passed, sum.expected = sum.passed+n.passed, sum.expected+n.expected
		sum.skipped, sum.unexpected = sum.skipped+n.skipped, sum.unexpected+n.unexpected
		same = same && n.unexpected == 0
		for _, entry := range slices.Sorted(maps.Keys(want)) {
			if strings.HasPrefix(entry, f.name+"/") && !used[entry] {
				fmt.Printf("  expected to fail, and nothing failed: %s\n", entry)
				same = false
			}
		}
	}
	fmt.Printf("%d tests passed, %d failed as expected, %d were skipped, %d failed unexpectedly\n",
		sum.passed, sum.expected, sum.skipped, sum.unexpected)
	return same, nil
}

func (n *tally) add(f folder, o outcome, want expected, used map[string]bool, list bool) {
	name := f.name + "/" + o.test
	entry, known := want.find(name)
	switch {
	case o.result == "PASS":
		n.passed++
	case o.result == "SKIP":
		n.skipped++
	case known:
		used[entry] = true
		n.expected++
	default:
		n.unexpected++
		fmt.Printf("  unexpected failure: %s\n", name)
	}
	if o.result == "FAIL" && list {
		fmt.Printf("    %s\n", o.says)
	}
}
