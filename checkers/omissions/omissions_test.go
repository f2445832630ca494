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
		if v := j.Verdict(); v.Checked != 1 || len(v.Violations) != c.want {
			t.Errorf("%s: %d violations of %d answers, want %d", name, len(v.Violations), v.Checked,
				c.want)
		}
	}
}
