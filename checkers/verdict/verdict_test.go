package verdict

import (
	"slices"
	"testing"
)

// Of all verdicts the worst decides: a failure before what is undecided, and that before what
// passed.
func TestWorst(t *testing.T) {
	concluded := func(o Outcome) Verdict { return Verdict{Checker: string(o), Outcome: o} }
	pass, open, fail := concluded(Pass), concluded(Undecided), concluded(Fail)
	for _, c := range []struct {
		all  []Verdict
		want Outcome
	}{
		{[]Verdict{pass, open, fail}, Fail}, {[]Verdict{pass, open, pass}, Undecided},
		{[]Verdict{pass, pass}, Pass}, {nil, ""},
	} {
		if got := Worst(c.all).Outcome; got != c.want {
			t.Errorf("%v: %s", c.all, got)
		}
	}
}

// A failure is documented only if every violation is explained; what is undecided stays so.
func TestExcuses(t *testing.T) {
	failing := func(about ...Violation) Verdict {
		return Verdict{Outcome: Fail, Violations: about}
	}
	inside, outside := Violation{NS: "test.docs", Key: "c"}, Violation{NS: "test.docs", Key: "x"}
	twice := Violation{NS: "test.docs", Key: "y"}
	unfenced := KeyRange{NS: "test.docs", Min: "b", Max: "x"}
	excuses := []Excuse{
		{UnfencedCommit, func(v *Violation) bool {
			var places []string
			if v.Key != "" {
				places = []string{v.Key}
			}
			return unfenced.Holds(v, places)
		}},
		{ExecutedTwice, func(v *Violation) bool { return v.Key == "y" }},
	}
	for _, c := range []struct {
		verdict Verdict
		excuses []Excuse
		want    Outcome
		shown   []string
	}{
		{failing(inside), excuses, Documented, []string{"unfenced-commit"}},
		{failing(Violation{NS: "test.docs"}), excuses, Documented, []string{"unfenced-commit"}},
		{failing(Violation{}), excuses, Documented, []string{"unfenced-commit"}},
		{failing(inside, twice), excuses, Documented, []string{"unfenced-commit", "executed-twice"}},
		{failing(outside), excuses, Fail, nil},
		{failing(inside, outside), excuses, Fail, nil},
		{failing(inside), nil, Fail, nil},
		{failing(Violation{NS: "test.more", Key: "c"}), excuses, Fail, nil},
		{Verdict{Outcome: Undecided}, excuses, Undecided, nil},
		{Verdict{Outcome: Pass}, excuses, Pass, nil},
	} {
		all := []Verdict{c.verdict}
		shown := Apply(c.excuses, all)
		if all[0].Outcome != c.want || !slices.Equal(shown, c.shown) {
			t.Errorf("%+v: %s and %v, want %s and %v", c.verdict, all[0].Outcome, shown, c.want,
				c.shown)
		}
	}
}
