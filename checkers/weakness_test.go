package checkers_test

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
)

// A commit is unfenced when, as it is written, a primary of the donor leads that does not hold the migration's section.
func TestUnfencedCommits(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		unfenced bool
	}{
		"the donor holds its section":      {moved, false},
		"the donor has given up":           {strings.Replace(moved, "table 1 2", "release a.0 m1\ntable 1 2", 1), true},
		"the donor's successor leads":      {strings.Replace(moved, "table 1 2", "elected a.1 2 1 1:1\ntable 1 2", 1), true},
		"the donor's successor is not yet": {strings.Replace(moved, "table 1 2", "down a.0\ntable 1 2", 1), false},
		"nothing has moved":                {opening, false},
	} {
		if got := len(observe(t, c.script).Unfenced()) > 0; got != c.unfenced {
			t.Errorf("%s: unfenced %v", name, got)
		}
	}
}

// Only failures about a namespace with an unfenced commit, or about none, are excused; what is undecided stays so.
func TestExcuse(t *testing.T) {
	failing := func(ns string) checkers.Verdict {
		return checkers.Verdict{Outcome: checkers.Fail, Violations: []checkers.Violation{{NS: ns}}}
	}
	for _, c := range []struct {
		verdict  checkers.Verdict
		unfenced []string
		want     checkers.Outcome
	}{
		{failing("test.docs"), []string{"test.docs"}, checkers.Documented},
		{failing(""), []string{"test.docs"}, checkers.Documented},
		{failing("test.docs"), nil, checkers.Fail},
		{failing("test.more"), []string{"test.docs"}, checkers.Fail},
		{checkers.Verdict{Outcome: checkers.Undecided}, []string{"test.docs"}, checkers.Undecided},
		{checkers.Verdict{Outcome: checkers.Pass}, []string{"test.docs"}, checkers.Pass},
	} {
		all := []checkers.Verdict{c.verdict}
		if checkers.Excuse(all, c.unfenced); all[0].Outcome != c.want {
			t.Errorf("%+v with unfenced %v: %s, want %s", c.verdict, c.unfenced, all[0].Outcome, c.want)
		}
	}
}
