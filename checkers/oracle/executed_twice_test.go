package oracle

import (
	"strings"
	"testing"
)

// A statement is executed twice behind a drop only if two shards did it for the client, a majority
// had the first execution, and the collection was dropped between.
func TestExecutedTwice(t *testing.T) {
	const (
		first  = opening + "execute a.0 1 2 c s 5 0\nuser a.0 1 2 c 12\n"
		kept   = "majority a.0 1 2\n"
		drop   = "table 1 2 drop\nmajority config.0 1 2\n"
		again  = "table 1 3 founding -..+=b@1|0\nmajority config.0 1 3\n"
		second = "execute b.0 1 1 c s 5 0\nuser b.0 1 1 c 12\n"
	)
	for name, c := range map[string]struct {
		script string
		twice  bool
	}{
		"behind a drop":                     {first + kept + drop + again + second, true},
		"without a drop":                    {first + kept + second, false},
		"the drop came before":              {opening + drop + again + strings.TrimPrefix(first, opening) + kept + second, false},
		"no majority has the drop":          {first + kept + "table 1 2 drop\n" + second, false},
		"no majority had the first":         {first + drop + again + second, false},
		"the same shard":                    {first + kept + drop + again + strings.ReplaceAll(second, "b.0 1 1", "a.0 1 3"), false},
		"another statement":                 {first + kept + drop + again + strings.Replace(second, "5 0", "5 1", 1), false},
		"another transaction":               {first + kept + drop + again + strings.Replace(second, "5 0", "6 0", 1), false},
		"another key":                       {first + kept + drop + again + strings.ReplaceAll(second, " c ", " d "), false},
		"the second knew it from the first": {first + kept + drop + again + strings.Replace(second, "execute", "import", 1), false},
		"not by a primary":                  {first + kept + drop + again + strings.ReplaceAll(second, "b.0", "b.1"), false},
	} {
		if got := len(observe(t, c.script).ExecutedTwice()) > 0; got != c.twice {
			t.Errorf("%s: executed twice %v", name, got)
		}
	}
}
