package automerge

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// A request is held against what forbids it for certain, and what is not known forbids nothing.
func TestAsked(t *testing.T) {
	full := Switches{Mode: trace.BalancerFull}
	apart := Switches{Mode: trace.BalancerFull, NoMerge: true}
	night := Switches{
		Mode:   trace.BalancerFull,
		Window: &Window{Start: 23 * time.Hour, Stop: 7 * time.Hour},
	}
	for name, c := range map[string]struct {
		chosen *Collection
		set    *Switches
		local  time.Duration
		want   verdict.Signature
	}{
		"allowed":              {&Collection{}, &full, 0, ""},
		"nothing known":        {nil, nil, -1, ""},
		"not balanced":         {&Collection{NoBalance: true}, &full, 0, exempt},
		"not merged":           {&Collection{NoMerge: true}, &full, 0, exempt},
		"fixed":                {&Collection{Fixed: true}, nil, -1, exempt},
		"the sessions":         {&Collection{Sessions: true}, &full, 0, exempt},
		"defragmented":         {&Collection{Defragment: true, NoMerge: true}, &apart, 0, ""},
		"defragmented, off":    {&Collection{Defragment: true, NoBalance: true}, &full, 0, exempt},
		"defragmented, closed": {&Collection{Defragment: true}, &night, 12 * time.Hour, outsideWindow},
		"the cluster":          {&Collection{}, &apart, 0, whileOff},
		"perhaps defragmented": {nil, &apart, 0, ""},
		"off":                  {nil, &Switches{Mode: trace.BalancerOff}, -1, whileOff},
		"only splits":          {nil, &Switches{Mode: trace.BalancerAutoSplitOnly}, -1, whileOff},
		"in the window":        {&Collection{}, &night, 2 * time.Hour, ""},
		"as it begins":         {&Collection{}, &night, 23 * time.Hour, ""},
		"as it ends":           {&Collection{}, &night, 7 * time.Hour, ""},
		"after it":             {&Collection{}, &night, 7*time.Hour + 1, outsideWindow},
		"before it":            {&Collection{}, &night, 23*time.Hour - 1, outsideWindow},
		"at no known time":     {&Collection{}, &night, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var j Judge
			j.Observe(&trace.Event{Step: 7})
			j.Asked(&Request{
				Node: "config.0", Shard: "shard-a", NS: "test.docs", Chosen: c.chosen, Set: c.set,
				Local: c.local,
			})
			v := j.Verdict()
			var got verdict.Signature
			if len(v.Violations) > 0 {
				got = v.Violations[0].Signature
				if said := v.Violations[0].String(); !strings.Contains(said, "config.0") ||
					v.Violations[0].Events[0] != 7 {
					t.Errorf("%s at %v", said, v.Violations[0].Events)
				}
			}
			if got != c.want || v.Checked != 1 {
				t.Errorf("%q of %d, not %q", got, v.Checked, c.want)
			}
		})
	}
}
