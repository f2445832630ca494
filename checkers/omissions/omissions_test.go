package omissions

import "testing"

// TestAnswered: every key that is left out is one violation, an answer that has all is none.
func TestAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		left []string
		want int
	}{
		"complete":           {nil, 0},
		"one left out":       {[]string{"5"}, 1},
		"two of one key":     {[]string{"5", "5"}, 1},
		"two of two, mixed":  {[]string{"9", "5", "9"}, 2},
		"an empty key's one": {[]string{""}, 1},
	} {
		j := New()
		j.Answered(&Answer{Node: "a.0", NS: "t.c", Version: "version 3", Left: c.left})
		if v := j.Verdicts()[0]; v.Checked != 1 || len(v.Violations) != c.want {
			t.Errorf("%s: %d violations of %d answers, want %d", name, len(v.Violations), v.Checked,
				c.want)
		}
	}
}

// TestFlushed: a copy is as good as nothing is said to be wrong with it.
func TestFlushed(t *testing.T) {
	for lacking, want := range map[string]int{"": 0, "its chunks are still being replaced": 1} {
		j := New()
		j.Flushed("a.0", "t.c", lacking)
		if v := j.Verdicts()[1]; v.Checked != 1 || len(v.Violations) != want {
			t.Errorf("%q: %d violations, want %d", lacking, len(v.Violations), want)
		}
	}
}

// TestOutlived: a query that goes on too long is a violation of its own.
func TestOutlived(t *testing.T) {
	j := New()
	j.Outlived("a.0", "t.c", 7)
	if v := j.Verdicts()[0]; len(v.Violations) != 1 || v.Violations[0].NS != "t.c" {
		t.Errorf("%d violations, want one", len(v.Violations))
	}
}
