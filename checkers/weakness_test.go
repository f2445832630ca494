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

// Only failures about a key of an unfenced commit, about no single key of its namespace, or about no namespace are excused; what
// is undecided stays so.
func TestExcuse(t *testing.T) {
	failing := func(about ...checkers.Violation) checkers.Verdict {
		return checkers.Verdict{Outcome: checkers.Fail, Violations: about}
	}
	inside, outside := checkers.Violation{NS: "test.docs", Key: "c"}, checkers.Violation{NS: "test.docs", Key: "x"}
	unfenced := []checkers.KeyRange{{NS: "test.docs", Min: "b", Max: "x"}}
	places := func(v *checkers.Violation) []string {
		if v.Key == "" {
			return nil
		}
		return []string{v.Key}
	}
	for _, c := range []struct {
		verdict  checkers.Verdict
		unfenced []checkers.KeyRange
		want     checkers.Outcome
	}{
		{failing(inside), unfenced, checkers.Documented},
		{failing(checkers.Violation{NS: "test.docs"}), unfenced, checkers.Documented},
		{failing(checkers.Violation{}), unfenced, checkers.Documented},
		{failing(outside), unfenced, checkers.Fail},
		{failing(inside, outside), unfenced, checkers.Fail},
		{failing(inside), nil, checkers.Fail},
		{failing(checkers.Violation{NS: "test.more", Key: "c"}), unfenced, checkers.Fail},
		{checkers.Verdict{Outcome: checkers.Undecided}, unfenced, checkers.Undecided},
		{checkers.Verdict{Outcome: checkers.Pass}, unfenced, checkers.Pass},
	} {
		all := []checkers.Verdict{c.verdict}
		if checkers.Excuse(all, c.unfenced, places); all[0].Outcome != c.want {
			t.Errorf("%+v with unfenced %v: %s, want %s", c.verdict, c.unfenced, all[0].Outcome, c.want)
		}
	}
}
