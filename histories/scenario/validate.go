package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Names are the catalogs that a scenario refers to and may not import: each returns an error that
// says what is wrong with a name, or nil. A nil function accepts every name.
type Names struct {
	Site, Fault, Setting func(name string) error
}

// Validate says what keeps the scenario from being run, as a *ParseError without a line.
func (s *Scenario) Validate(names Names) error {
	if f := s.check(names); f != nil {
		return &ParseError{
			File:     fmt.Sprintf("scenario, %s %d", f.linePart.kind, f.linePart.index+1),
			Wrong:    f.wrong,
			Expected: f.expected,
		}
	}
	return nil
}

// linePart is a piece of a scenario: what kind of line and which of them, from 0.
type linePart struct {
	kind  string
	index int
}

type defect struct {
	linePart
	wrong, expected string
}

func flaw(kind string, index int, wrong, expected string) *defect {
	if expected != "" {
		expected = "expected " + expected
	}
	return &defect{linePart{kind, index}, wrong, expected}
}

// check finds the first flaw.
func (s *Scenario) check(names Names) *defect {
	for _, look := range []func(*Scenario, Names) *defect{
		(*Scenario).checkNames, (*Scenario).checkProtocol, (*Scenario).checkTopology,
		(*Scenario).checkTimes,
		(*Scenario).checkCollections, (*Scenario).checkSettings, (*Scenario).checkOps,
		(*Scenario).checkMigrations, (*Scenario).checkPrimaries, (*Scenario).checkCommands,
		(*Scenario).checkStreams, (*Scenario).checkFaults, (*Scenario).checkDecisions,
	} {
		if f := look(s, names); f != nil {
			return f
		}
	}
	return nil
}

// checkNames refuses names that servers take for shorter ones, or that a terminal obeys. All other
// texts are data: they are quoted wherever they are printed.
func (s *Scenario) checkNames(Names) *defect {
	if !IsPlain(s.Name) {
		return flaw("name", 0, "the name "+quoteWord(s.Name)+" has control characters",
			"printable text")
	}
	for i, c := range s.Collections {
		if !IsPlain(c.NS) {
			return flaw("collection", i, "the namespace "+quoteWord(c.NS)+
				" has control characters", "printable text")
		}
	}
	return nil
}

// IsPlain says whether a name is text without characters that control something.
func IsPlain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// Protocols are the versions that a scenario may name, the newest, which is the default, first.
var Protocols = []string{"8.0", "4.2"}

func (s *Scenario) checkProtocol(Names) *defect {
	if s.Protocol != "" && !slices.Contains(Protocols, s.Protocol) {
		return flaw("protocol", 0, "there is no protocol "+quoteWord(s.Protocol),
			strings.Join(Protocols, " or "))
	}
	return nil
}

// The most of what a scenario may have. A run keeps all of it in memory.
const (
	mostKeys    = 1_000_000
	mostServers = 1_000
)

func (s *Scenario) checkTopology(Names) *defect {
	t := s.Topology
	if t.Shards > 26 {
		return flaw("topology", 0, fmt.Sprintf("%d shards", t.Shards),
			"at most 26, shard-a to shard-z")
	}
	if t.Spare < 0 || t.Spare > 0 && t.Spare >= t.Shards {
		return flaw("topology", 0, fmt.Sprintf("spare=%d", t.Spare),
			fmt.Sprintf("spare=0 to %d, so that there is a shard", t.Shards-1))
	}
	for _, n := range []struct {
		what  string
		count int
	}{
		{"shards", t.Shards},
		{"members", t.Members},
		{"config", t.ConfigMembers},
		{"routers", t.Routers},
		{"clients", t.Clients},
	} {
		if n.count < 1 {
			return flaw("topology", 0, fmt.Sprintf("%s=%d", n.what, n.count), n.what+"=1 or more")
		}
		if n.count > mostServers {
			return flaw("topology", 0, fmt.Sprintf("%s=%d", n.what, n.count),
				fmt.Sprintf("at most %s=%d", n.what, mostServers))
		}
	}
	return nil
}

func (s *Scenario) checkTimes(Names) *defect {
	if s.FaultsEnd < 0 {
		return flaw("faults-end", 0, "the faults end before the start", "a time of 0s or later")
	}
	if s.Limit < 0 {
		return flaw("limit", 0, "the limit is negative", "a time of 0s or more")
	}
	return nil
}

func (s *Scenario) checkSettings(names Names) *defect {
	for i, v := range s.Settings {
		if v.Name == "" {
			return flaw("set", i, "the setting has no name", "a name")
		}
		if s.setting(v.Name) < i {
			return flaw("set", i, "the setting "+quoteWord(v.Name)+" is given twice", "it once")
		}
		if f := checkName(names.Setting, "set", i, v.Name); f != nil {
			return f
		}
	}
	return nil
}

func checkName(check func(string) error, kind string, index int, name string) *defect {
	if check == nil {
		return nil
	}
	if err := check(name); err != nil {
		return flaw(kind, index, err.Error(), "")
	}
	return nil
}

// shards reports whether an operation gives an unsharded collection a shard key, or its name to
// another one that has got one.
func (s *Scenario) shards(ns string) bool {
	keyed := func(name string) bool {
		return slices.ContainsFunc(s.Ops, func(o Op) bool { return o.Kind == Shard && o.NS == name })
	}
	return keyed(ns) || slices.ContainsFunc(s.Ops, func(o Op) bool {
		return o.Kind == Rename && o.Into == ns && keyed(o.NS)
	})
}

func (s *Scenario) checkMigrations(Names) *defect {
	ids := map[int]bool{}
	for i, m := range s.Migrations {
		switch {
		case ids[m.ID]:
			return flaw("move", i, fmt.Sprintf("move %d is given twice", m.ID),
				"a number of its own")
		case m.At < 0:
			return flaw("move", i, "the start "+m.At.String()+" is negative",
				"a time of 0s or later")
		case s.collection(m.NS) == nil:
			return flaw("move", i, "there is no collection "+quoteWord(m.NS),
				"one of the collections above")
		case s.collection(m.NS).Unsharded && !s.shards(m.NS):
			return flaw("move", i, "the collection "+quoteWord(m.NS)+" is not sharded",
				"a sharded collection")
		case m.Min >= m.Max:
			return flaw("move", i, "the range "+rangeText(m.Min, m.Max)+" is empty",
				"an end above the start")
		case m.To < 0 || m.To >= s.Topology.Shards:
			return flaw("move", i, "there is no "+ShardName(m.To),
				"a shard from shard-a to "+ShardName(s.Topology.Shards-1))
		case !slices.Contains(openEnds, m.Open):
			return flaw("move", i, "open="+quoteWord(m.Open), "open=min, open=max or open=chunk")
		case !slices.Contains(forceJumboValues, m.ForceJumbo):
			return flaw("move", i, "force-jumbo="+quoteWord(m.ForceJumbo),
				"force-jumbo=manual or force-jumbo=balancer")
		case !m.throttleKnown():
			return flaw("move", i, "throttle="+quoteWord(m.Throttle),
				"throttle=majority or a number of members such as throttle=2")
		}
		ids[m.ID] = true
	}
	return nil
}

// openEnds are the values of Migration.Open.
var openEnds = []string{"", "min", "max", OpenChunk}

// forceJumboValues are the values of Migration.ForceJumbo.
var forceJumboValues = []string{"", "manual", "balancer"}

func (m *Migration) throttleKnown() bool {
	n, err := strconv.Atoi(m.Throttle)
	return m.Throttle == "" || m.Throttle == "majority" ||
		err == nil && n > 0 && strconv.Itoa(n) == m.Throttle
}

func (s *Scenario) checkPrimaries(Names) *defect {
	ids := map[int]bool{}
	for i, m := range s.Primaries {
		lives := func(c Collection) bool {
			return c.Unsharded && strings.HasPrefix(c.NS, m.Database+".")
		}
		switch {
		case ids[m.ID]:
			return flaw("move-primary", i, fmt.Sprintf("move-primary %d is given twice", m.ID),
				"a number of its own")
		case m.At < 0:
			return flaw("move-primary", i, "the start "+m.At.String()+" is negative",
				"a time of 0s or later")
		case !slices.ContainsFunc(s.Collections, lives):
			return flaw("move-primary", i, "no unsharded collection is in the database "+
				quoteWord(m.Database), "the database of one")
		case m.To < 0 || m.To >= s.Topology.Shards:
			return flaw("move-primary", i, "there is no "+ShardName(m.To),
				"a shard from shard-a to "+ShardName(s.Topology.Shards-1))
		}
		ids[m.ID] = true
	}
	return nil
}

func (s *Scenario) checkStreams(Names) *defect {
	ids := map[int]bool{}
	for i, w := range s.Streams {
		switch {
		case ids[w.ID] || w.ID < 1:
			return flaw("stream", i, fmt.Sprintf("stream %d is given twice or below 1", w.ID),
				"a number of its own")
		case w.At < 0 || w.Poll <= 0:
			return flaw("stream", i, fmt.Sprintf("it starts at %s and polls every %s",
				w.At, w.Poll), "a start of 0s or later, and a poll of more than 0s")
		case s.collection(w.NS) == nil:
			return flaw("stream", i, "there is no collection "+quoteWord(w.NS),
				"one of the collections above")
		case w.Batch < 0 || w.Resume < 0 || w.Back < 0:
			return flaw("stream", i, "a number is negative",
				"batch=, resume= and back= of 0 or more")
		}
		ids[w.ID] = true
	}
	return nil
}

func (s *Scenario) checkFaults(names Names) *defect {
	ids := map[int]bool{}
	for i := range s.Faults {
		f := &s.Faults[i]
		if ids[f.ID] {
			return flaw("fault", i, fmt.Sprintf("fault %d is given twice", f.ID),
				"a number of its own")
		}
		ids[f.ID] = true
		if wrong := s.faultFlaw(i, f, names); wrong != nil {
			return wrong
		}
	}
	return nil
}

func (s *Scenario) faultFlaw(i int, f *Fault, names Names) *defect {
	if f.Kind == "" || f.Kind == "after" || f.Kind == "by" {
		return flaw("fault", i, "the fault's kind "+quoteWord(f.Kind)+
			" is missing or a word of the grammar", "a name of the fault catalog")
	}
	if f.For < 0 {
		return flaw("fault", i, "the fault's duration "+f.For.String()+" is negative",
			"a time of 0s or more")
	}
	if slices.ContainsFunc(f.Args, func(a Setting) bool { return quoteWord(a.Name) != a.Name }) {
		return flaw("fault", i, "an argument's name is not one word", "arguments such as odds=20")
	}
	if wrong := checkName(names.Fault, "fault", i, f.Kind); wrong != nil {
		return wrong
	}
	for _, t := range []*Trigger{&f.When, f.Until} {
		if wrong := t.flaw(i, names); wrong != nil {
			return wrong
		}
	}
	return nil
}

func (t *Trigger) flaw(i int, names Names) *defect {
	switch {
	case t == nil:
		return nil
	case t.At < 0 || t.After < 0:
		return flaw("fault", i, "a time of the trigger is negative", "a time of 0s or later")
	case t.Site == "" && (t.Nth != 0 || t.After != time.Duration(0) || t.Node != ""):
		return flaw("fault", i, "the trigger has both a time and a site", "either a time or a site")
	case t.Site == "":
		return nil
	case t.At != 0 || t.Nth < 1:
		return flaw("fault", i, fmt.Sprintf("the trigger names pass #%d at %s", t.Nth, t.At),
			"a pass from #1 and no time")
	case startsAsTime(t.Site):
		return flaw("fault", i, "the site "+quoteWord(t.Site)+" starts like a time", "a name")
	}
	return checkName(names.Site, "fault", i, t.Site)
}

// checkDecisions refuses names of schema 1, which would be answers to questions that nobody asks.
func (s *Scenario) checkDecisions(Names) *defect {
	for i, d := range s.Decisions {
		if err := OldName("decision", d.Kind); err != nil {
			return flaw("decide", i, err.Error(), "the present name")
		}
		if node, site, ok := strings.Cut(d.Site, "/"); ok && !strings.Contains(node, ">") {
			if err := OldName("failpoint", site); err != nil {
				return flaw("decide", i, err.Error(), "the present name")
			}
		}
	}
	return nil
}
