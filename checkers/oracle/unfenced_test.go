package oracle

import (
	"strings"
	"testing"
)

// A commit is unfenced when, as it is written, a primary of the donor leads that does not hold the
// migration's section.
func TestUnfencedCommits(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		unfenced bool
	}{
		"the donor holds its section": {moved, false},
		"the donor has given up": {
			strings.Replace(moved, "table 1 2", "release a.0 m1\ntable 1 2", 1), true,
		},
		"the donor's successor leads": {
			strings.Replace(moved, "table 1 2", "elected a.1 2 1 1:1\ntable 1 2", 1), true,
		},
		"the donor's successor is not yet": {
			strings.Replace(moved, "table 1 2", "down a.0\ntable 1 2", 1), false,
		},
		"the donor's successor has led": {
			strings.Replace(moved, "table 1 2", "down a.0\nelected a.1 2 1 1:1\ndown a.1\ntable 1 2", 1),
			true,
		},
		"no majority has it": {
			strings.Replace(moved, "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n",
				"release a.0 m1\ntable 1 2 move_m1 -..m=b@2|0<a\n", 1), false,
		},
		"the donor gives up afterwards": {moved + "elected a.1 2 1 1:1\n", false},
		"nothing has moved":             {opening, false},
	} {
		if got := len(observe(t, c.script).Unfenced()) > 0; got != c.unfenced {
			t.Errorf("%s: unfenced %v", name, got)
		}
	}
}
