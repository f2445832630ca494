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
	unfenced := Damage{NS: "test.docs", Min: "b", Max: "x"}
	excuses := []Excuse{
		{UnfencedCommit, func(v *Violation) bool {
			return unfenced.Explains(v, []string{v.Key}, nil)
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
		{failing(Violation{NS: "test.docs"}), excuses, Fail, nil},
		{failing(Violation{}), excuses, Fail, nil},
		{failing(inside, twice), excuses, Documented,
			[]string{"unfenced-commit", "executed-twice"}},
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

// Damage explains what is about a key of its range and was not over when it began.
func TestDamage(t *testing.T) {
	d := Damage{NS: "test.docs", Min: "b", Max: "x", Step: 100, From: 1000}
	ended := func(op int) int64 { return int64(op) }
	about := func(v Violation) Violation {
		if v.NS == "" {
			v.NS = "test.docs"
		}
		return v
	}
	in := []string{"c"}
	for name, c := range map[string]struct {
		v      Violation
		places []string
		want   bool
	}{
		"at the end of the run":          {about(Violation{}), in, true},
		"an operation after":             {about(Violation{Ops: []int{10, 1000}}), in, true},
		"all operations before":          {about(Violation{Ops: []int{10, 999}}), in, false},
		"an event after":                 {about(Violation{Events: []uint64{5, 100}}), in, true},
		"all events before":              {about(Violation{Events: []uint64{5, 99}}), in, false},
		"a time after":                   {about(Violation{Times: []int64{1000}}), in, true},
		"a time before":                  {about(Violation{Times: []int64{999}}), in, false},
		"the lowest key":                 {about(Violation{}), []string{"b"}, true},
		"the key above the range":        {about(Violation{}), []string{"x"}, false},
		"the key below the range":        {about(Violation{}), []string{"a\xff"}, false},
		"one of two places":              {about(Violation{}), []string{"a", "c"}, true},
		"about no key":                   {about(Violation{}), nil, false},
		"about another collection":       {about(Violation{NS: "test.more"}), in, false},
		"before, and no operation's key": {about(Violation{Ops: []int{10}}), nil, false},
	} {
		if got := d.Explains(&c.v, c.places, ended); got != c.want {
			t.Errorf("%s: explained %v", name, got)
		}
	}
	if d.Explains(&Violation{}, in, ended) {
		t.Error("what is about no collection is explained")
	}
}

// A violation about ranges is covered when each of them lies in one damaged range of its namespace.
func TestCovers(t *testing.T) {
	damaged := []Damage{
		{NS: "test.docs", Min: "b", Max: "f"}, {NS: "test.docs", Min: "m", Max: "p"},
	}
	for name, c := range map[string]struct {
		ns     string
		ranges []KeyRange
		want   bool
	}{
		"inside one":        {"test.docs", []KeyRange{{"b", "f"}}, true},
		"inside both":       {"test.docs", []KeyRange{{"c", "d"}, {"m", "n"}}, true},
		"beyond the end":    {"test.docs", []KeyRange{{"c", "g"}}, false},
		"one of two":        {"test.docs", []KeyRange{{"c", "d"}, {"x", "y"}}, false},
		"another namespace": {"test.more", []KeyRange{{"c", "d"}}, false},
		"about no range":    {"test.docs", nil, false},
	} {
		if got := Covers(damaged, &Violation{NS: c.ns, Ranges: c.ranges}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
