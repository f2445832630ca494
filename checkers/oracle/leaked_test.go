package oracle

import (
	"strings"
	"testing"
)

// A shard may forget what it has to delete only when something took its memory, or kept it from
// knowing, since the migration began.
func TestMayForget(t *testing.T) {
	given := moved + "end a.0 m1 committed\n"
	swept := given + "task a.0 m1 - m ready -1\n"
	failed := strings.NewReplacer("table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n", "",
		"committed", "aborted").Replace(moved)
	for name, c := range map[string]struct {
		script, shard, key string
		may                bool
	}{
		"the donor deletes":                {swept, "a", "c", false},
		"the donor has begun nothing":      {given, "a", "c", false},
		"the donor's task was killed":      {given + "fault a.0 kill-operation\n", "a", "c", true},
		"the donor was asked to hand over": {given + "fault a.0 stepdown\n", "a", "c", true},
		"a fault that kills nothing":       {given + "fault a.0 slow-disk\n", "a", "c", false},
		"killed when it deletes":           {swept + "fault a.0 kill-operation\n", "a", "c", false},
		"killed before the migration":      {"fault a.0 kill-operation\n" + given, "a", "c", false},
		"the donor never read what became": {moved, "a", "c", true},
		"the donor had given up": {
			strings.Replace(given, "table 1 2", "release a.0 m1\ntable 1 2", 1), "a", "c", true,
		},
		"the donor has a successor":     {swept + "elected a.1 2 1 1:1\n", "a", "c", true},
		"the recipient has a successor": {swept + "elected b.1 2 1 1:1\n", "a", "c", false},
		"dropped since": {swept +
			"table 1 3 drop\nmajority config.0 1 3\n", "a", "c", true},
		"a key that did not move":        {given + "elected a.1 2 1 1:1\n", "a", "n", false},
		"a shard that had no part":       {given + "elected c.0 1 0 1:0\n", "c", "c", false},
		"the recipient failed by itself": {failed, "b", "c", false},
		"the recipient was done, and not told": {failed +
			"receive b.0 m1 - m kDone\n", "b", "c", true},
		"the recipient's successor": {failed + "elected b.1 2 1 1:1\n", "b", "c", true},
		"nothing has moved":         {opening, "a", "c", false},
	} {
		if got := observe(t, c.script).MayForget("test.docs", c.shard, c.key); got != c.may {
			t.Errorf("%s: may forget %v", name, got)
		}
	}
}
