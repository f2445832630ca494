package explain

import (
	"slices"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"fits", "one two", []string{"one two"}},
		{"at a space", "one two three four", []string{"one two", "  three", "  four"}},
		{"with the spaces it has", "   1ms  a b c d", []string{"   1ms  a", "  b c d"}},
		{"not within a word", "out/a-long-path x", []string{"out/a-long-path", "  x"}},
		{"columns, not bytes", "ä → b", []string{"ä → b"}},
		{"nothing", "", []string{""}},
		{"too long", "aaaaaaa bbbbbbb ccccccc ddddddd eeeeeee fffffff", []string{
			"aaaaaaa", "  bbbbbbb", "  ccccccc", "  ddddddd", "  eeeeeee …",
		}},
	} {
		if got := Wrap(c.text, 10, 2); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
