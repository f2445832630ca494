package verdict

import "testing"

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

// Only failures about a key of an unfenced commit, about no single key of its namespace, or about
// no namespace are excused; what is undecided stays so.
func TestExcuse(t *testing.T) {
	failing := func(about ...Violation) Verdict {
		return Verdict{Outcome: Fail, Violations: about}
	}
	inside, outside := Violation{NS: "test.docs", Key: "c"}, Violation{NS: "test.docs", Key: "x"}
	unfenced := []KeyRange{{NS: "test.docs", Min: "b", Max: "x"}}
	places := func(v *Violation) []string {
		if v.Key == "" {
			return nil
		}
		return []string{v.Key}
	}
	for _, c := range []struct {
		verdict  Verdict
		unfenced []KeyRange
		want     Outcome
	}{
		{failing(inside), unfenced, Documented},
		{failing(Violation{NS: "test.docs"}), unfenced, Documented},
		{failing(Violation{}), unfenced, Documented},
		{failing(outside), unfenced, Fail},
		{failing(inside, outside), unfenced, Fail},
		{failing(inside), nil, Fail},
		{failing(Violation{NS: "test.more", Key: "c"}), unfenced, Fail},
		{Verdict{Outcome: Undecided}, unfenced, Undecided},
		{Verdict{Outcome: Pass}, unfenced, Pass},
	} {
		all := []Verdict{c.verdict}
		if Excuse(all, c.unfenced, places); all[0].Outcome != c.want {
			t.Errorf("%+v with unfenced %v: %s, want %s",
				c.verdict, c.unfenced, all[0].Outcome, c.want)
		}
	}
}
