package shrink

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Label says of one line of the smallest scenario what may be different about it.
type Label struct{ Line, Text string }

// Annotate is the scenario as text, with the labels as comments at the ends of their lines.
func Annotate(s *scenario.Scenario, labels []Label) string {
	text := s.String()
	for _, l := range labels {
		text = strings.Replace(text, "\n"+l.Line+"\n", "\n"+l.Line+"  # "+l.Text+"\n", 1)
	}
	return text
}

// freedom is a way in which a line may be different: it does not matter when the scenario fails
// with each of the edits.
type freedom struct {
	line, what string
	edits      []edit
}

// seedsLabelled is how many other seeds the label of the seed speaks of.
const seedsLabelled = 8

// labels tries what does not matter about the smallest scenario.
func (x *search) labels() (all []Label) {
	if x.over {
		return nil
	}
	said := make(map[string][]string)
	var lines []string
	for _, f := range lineFreedoms(x.best) {
		if x.failing(f.edits) < len(f.edits) {
			continue
		}
		if said[f.line] == nil {
			lines = append(lines, f.line)
		}
		said[f.line] = append(said[f.line], f.what)
	}
	for _, line := range lines {
		all = append(all, Label{line, "another " + strings.Join(said[line], " or ") + " fails too"})
	}
	seeds := otherSeeds(x.best, seedsLabelled)
	count := fmt.Sprintf("%d of %d other seeds fail too", x.failing(seeds), len(seeds))
	if x.over {
		return nil
	}
	return append(all, Label{fmt.Sprintf("seed %d", x.best.Seed), count})
}

// failing is with how many of the edits the scenario fails as it did.
func (x *search) failing(edits []edit) (n int) {
	x.try(edits, func(_ int, c candidate) bool {
		if c.trial.Same {
			n++
		}
		return true
	})
	return n
}

// lineFreedoms lists what may not matter, line by line.
func lineFreedoms(s *scenario.Scenario) (all []freedom) {
	for i, o := range s.Ops {
		all = append(all, opFreedoms(s, i, o)...)
	}
	for i, m := range s.Migrations {
		all = append(all, freedom{
			m.String(), "time", otherTimes(func(s *scenario.Scenario) *time.Duration {
				return &s.Migrations[i].At
			}),
		})
	}
	for i, m := range s.Primaries {
		all = append(all, freedom{
			m.String(), "time", otherTimes(func(s *scenario.Scenario) *time.Duration {
				return &s.Primaries[i].At
			}),
		})
	}
	for i, w := range s.Streams {
		all = append(all, freedom{
			w.String(), "time", otherTimes(func(s *scenario.Scenario) *time.Duration {
				return &s.Streams[i].At
			}),
		})
	}
	for i, f := range s.Faults {
		all = append(all, faultFreedoms(i, f)...)
	}
	for i, c := range s.Commands {
		all = append(all, freedom{
			c.String(), "time", otherTimes(func(s *scenario.Scenario) *time.Duration {
				return &s.Commands[i].At
			}),
		})
	}
	for i, v := range s.Settings {
		all = append(all, settingFreedoms(i, v)...)
	}
	return all
}

// settingFreedoms tries half and twice the value. A setting that takes chance out of the schedule
// has no other.
func settingFreedoms(i int, v scenario.Setting) []freedom {
	half, double := halfAndDouble(v.Value)
	if half == double || slices.Contains(calmSettings, v) {
		return nil
	}
	return []freedom{{v.String(), "value", []edit{
		func(s *scenario.Scenario) { s.Settings[i].Value = half },
		func(s *scenario.Scenario) { s.Settings[i].Value = double },
	}}}
}

// halfAndDouble is half and twice a number or duration; the value itself, twice, for anything else.
func halfAndDouble(value string) (half, double string) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return strconv.FormatInt(n/2, 10), strconv.FormatInt(2*n, 10)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return (d / 2).String(), (2 * d).String()
	}
	return value, value
}

func opFreedoms(s *scenario.Scenario, i int, o scenario.Op) []freedom {
	all := []freedom{{
		o.String(), "time", otherTimes(func(s *scenario.Scenario) *time.Duration {
			return &s.Ops[i].At
		}),
	}}
	var clients, keys []edit
	for n := range s.Topology.Clients {
		clients = append(clients, func(s *scenario.Scenario) { s.Ops[i].Client = n })
	}
	if len(clients) > 1 {
		all = append(all, freedom{o.String(), "client", clients})
	}
	for _, c := range s.Collections {
		for k := range int64(c.Keys) {
			if c.NS == o.NS && k != o.Key && o.Kind.Of().Shape != opkind.Ranged {
				keys = append(keys, func(s *scenario.Scenario) { s.Ops[i].Key = k })
			}
		}
	}
	if len(keys) > 1 {
		all = append(all, freedom{o.String(), "key", keys})
	}
	return all
}

func faultFreedoms(i int, f scenario.Fault) (all []freedom) {
	if f.When.Site == "" {
		all = append(all, freedom{
			f.String(), "time", otherTimes(func(s *scenario.Scenario) *time.Duration {
				return &s.Faults[i].When.At
			}),
		})
	}
	if f.When.Site != "" {
		all = append(all, freedom{f.String(), "pass", otherPasses(i, f.When.Nth)})
	}
	if f.For != 0 {
		all = append(all, freedom{f.String(), "length", []edit{
			func(s *scenario.Scenario) { s.Faults[i].For = f.For / 2 },
			func(s *scenario.Scenario) { s.Faults[i].For = 2 * f.For },
		}})
	}
	return all
}

// otherPasses has a fault strike one pass of its site earlier and later, where there is an earlier
// one.
func otherPasses(i, nth int) (all []edit) {
	for _, other := range []int{nth - 1, nth + 1} {
		if other > 0 {
			all = append(all, func(s *scenario.Scenario) { s.Faults[i].When.Nth = other })
		}
	}
	return all
}

// otherTimes moves a start a little and a lot.
func otherTimes(at func(*scenario.Scenario) *time.Duration) (all []edit) {
	for _, by := range []time.Duration{
		-20 * time.Millisecond, -3 * time.Millisecond, 3 * time.Millisecond, 20 * time.Millisecond,
	} {
		all = append(all, func(s *scenario.Scenario) { *at(s) = max(*at(s)+by, 0) })
	}
	return all
}
