package copies

import "testing"

func TestFlushed(t *testing.T) {
	for lacking, want := range map[string]int{"": 0, "its chunks are still being replaced": 1} {
		j := New()
		j.Flushed("a.0", "t.c", lacking)
		if v := j.Verdict(); v.Checked != 1 || len(v.Violations) != want {
			t.Errorf("%q: %d violations, want %d", lacking, len(v.Violations), want)
		}
	}
}
