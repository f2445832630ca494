package campaign

import "testing"

// FuzzParseOutcome reads whatever there is as a line of a campaign's journal: what is one is
// written as it was.
func FuzzParseOutcome(f *testing.F) {
	f.Add(Outcome{Seed: 7, Hash: "ab12", Kind: "lost-write/rolled-back"}.String())
	f.Add(Outcome{Seed: 1, Hash: "ff"}.String())
	f.Fuzz(func(t *testing.T, line string) {
		o, err := ParseOutcome(line)
		if err != nil {
			return
		}
		if again, err := ParseOutcome(o.String()); err != nil || again != o {
			t.Fatalf("%q is read as %+v, and then as %+v, %v", line, o, again, err)
		}
	})
}

// FuzzParsePlan does so with its first line.
func FuzzParsePlan(f *testing.F) {
	f.Add(Plan{Build: "b", First: 1, Profile: "mixed", Protocol: "both",
		Set: []string{"a=b"}}.Title())
	f.Fuzz(func(t *testing.T, title string) {
		p, err := parsePlan(title)
		if err != nil {
			return
		}
		if _, err := parsePlan(p.Title()); err != nil {
			t.Fatalf("%q is a plan, and %q is none: %v", title, p.Title(), err)
		}
	})
}
