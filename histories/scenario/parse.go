package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
)

// DefaultLimit is the limit of a scenario that names none: time enough for what begins with the
// default settings, of which the delay before orphans are deleted is the longest.
const DefaultLimit = 30 * time.Minute

// Parse reads a scenario from text. name stands for the file in errors, which are of type
// *ParseError.
func Parse(name, text string) (*Scenario, error) { return ParseWith(name, text, Names{}) }

// ParseWith is Parse that also refuses names which the given ones do not know.
func ParseWith(name, text string, names Names) (*Scenario, error) {
	p := parser{
		file:       name,
		s:          new(Scenario),
		seen:       map[string]bool{},
		lines:      map[linePart]int{},
		overridden: map[string]bool{},
	}
	for i, text := range strings.Split(text, "\n") {
		if err := p.line(i+1, text); err != nil {
			return nil, err
		}
	}
	if !p.seen[header] {
		return nil, p.wrongHeader(1, "the file is empty")
	}
	if p.closed && !p.seen[lastLine] {
		return nil, p.cut(text)
	}
	if !p.seen["limit"] {
		p.s.Limit = DefaultLimit
	}
	if f := p.s.check(names); f != nil {
		return nil, &ParseError{
			File:     name,
			Line:     p.lines[f.linePart],
			Wrong:    f.wrong,
			Expected: f.expected,
		}
	}
	return p.s, nil
}

// parser knows what has been read and on which line each part stood.
type parser struct {
	file  string
	s     *Scenario
	seen  map[string]bool
	lines map[linePart]int
	// closed: the text is whole only up to its last line.
	closed bool
	// preset is how many of the settings came with a preset, and overridden says which of these
	// were set since.
	preset     int
	overridden map[string]bool
}

func (p *parser) line(number int, text string) error {
	l := &line{rest: text}
	if strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") || !l.more() {
		return nil
	}
	if !p.seen[header] {
		return p.header(number, strings.TrimSpace(text))
	}
	if p.seen[lastLine] {
		l.fail("a line after the end", "expected the line \"end\" last")
	} else {
		p.fact(number, l)
		l.end()
	}
	if !l.ok() {
		return &ParseError{File: p.file, Line: number, Wrong: l.wrong, Expected: l.expected}
	}
	return nil
}

func (p *parser) header(number int, text string) error {
	p.seen[header] = true
	version, ours := strings.CutPrefix(text, header+" ")
	version, p.closed = strings.CutSuffix(version, untilEnd)
	switch {
	case !ours:
		return p.wrongHeader(number, "this is not a scenario")
	case version != fmt.Sprint(Schema):
		return p.otherSchema(number, version)
	}
	return nil
}

// cut is the error for a text without its end.
func (p *parser) cut(text string) error {
	return &ParseError{
		File:  p.file,
		Line:  strings.Count(strings.TrimRight(text, "\n"), "\n") + 1,
		Wrong: "the scenario was cut: its first line says \"until end\", and no line \"end\" follows",
		Expected: "expected the whole file, or, if what is left is meant, " +
			"a first line without \"until end\"",
	}
}

// otherSchema is the error for a scenario of another schema, with the command that rewrites one of
// schema 1.
func (p *parser) otherSchema(number int, version string) error {
	err := p.wrongHeader(number, "the scenario has schema "+quoteWord(version))
	if version == "1" {
		err.Expected = fmt.Sprintf("`shardproof upgrade %s` rewrites it for this build", p.file)
	}
	return err
}

func (p *parser) wrongHeader(number int, wrong string) *ParseError {
	expected := fmt.Sprintf("expected the first line to be \"%s %d\", as this build writes it",
		header, Schema)
	return &ParseError{File: p.file, Line: number, Wrong: wrong, Expected: expected}
}

const expectedFacts = "expected name, seed, planned, target, protocol, topology, balancer, " +
	"faults-end, limit, collection, preset, set, op, move, move-primary, stream, fault, decide, " +
	"at or end"

// fact reads one line of any kind.
func (p *parser) fact(number int, l *line) {
	switch kind := l.word("a fact"); kind {
	case lastLine:
		p.seen[lastLine] = true
	case "name", "seed", "planned", "target", "protocol", "topology", "balancer",
		"faults-end", "limit":
		p.single(number, kind, l)
	case "collection":
		p.lines[linePart{kind, len(p.s.Collections)}] = number
		p.s.Collections = append(p.s.Collections, l.collection())
	case "preset":
		p.presetLine(number, l)
	case "set":
		p.set(number, Setting{l.word("a setting"), l.word("its value")})
	case "op", "move", "move-primary":
		id := l.number("a number")
		l.keyword("at")
		p.timed(number, kind, id, l)
	case "at":
		p.unnumbered(number, l)
	case "stream":
		p.lines[linePart{kind, len(p.s.Streams)}] = number
		p.s.Streams = append(p.s.Streams, l.stream())
	case "fault":
		p.lines[linePart{kind, len(p.s.Faults)}] = number
		p.s.Faults = append(p.s.Faults, l.fault())
	case "decide":
		p.lines[linePart{kind, len(p.s.Decisions)}] = number
		p.s.Decisions = append(p.s.Decisions, l.decision())
	default:
		wrong := "unknown fact " + quoteWord(kind)
		if err := OldName("fact", kind); err != nil {
			wrong = err.Error()
		}
		l.fail(wrong, expectedFacts)
	}
}

// presetLine reads the name of a preset, whose settings come before all others.
func (p *parser) presetLine(number int, l *line) {
	name := l.word("a preset")
	switch held := Preset(name); {
	case p.seen["preset"]:
		l.fail("preset is given twice", "expected it once")
	case len(p.s.Settings) > 0:
		l.fail("the preset comes behind a setting", "expected it before the first set")
	case held == nil:
		l.fail("there is no preset "+quoteWord(name), "expected "+presetList())
	default:
		p.s.Settings, p.preset = held, len(held)
		for i := range held {
			p.lines[linePart{"set", i}] = number
		}
	}
	p.seen["preset"] = true
}

// set takes a setting: the first one for a name of the preset is instead of what that holds.
func (p *parser) set(number int, v Setting) {
	i := p.s.setting(v.Name)
	if i < 0 || i >= p.preset || p.overridden[v.Name] {
		i = len(p.s.Settings)
		p.s.Settings = append(p.s.Settings, v)
	}
	p.s.Settings[i] = v
	p.overridden[v.Name] = true
	p.lines[linePart{"set", i}] = number
}

// unnumbered reads "at TIME" and a command, which has no number. "at TIME client ...", "at TIME
// move ..." and "at TIME move-primary ..." are for people who add a line and care for no number: it
// becomes the next after the highest so far.
func (p *parser) unnumbered(number int, l *line) {
	at := l.duration("a time such as 120ms")
	switch {
	case commandkind.Name(l.peek()).Known():
		p.command(number, at, l)
	case l.optional("move"):
		p.dated(number, "move",
			nextID(p.s.Migrations, func(m Migration) int { return m.ID }), at, l)
	case l.optional("move-primary"):
		p.dated(number, "move-primary",
			nextID(p.s.Primaries, func(m MovePrimary) int { return m.ID }), at, l)
	default:
		p.dated(number, "op", nextID(p.s.Ops, func(o Op) int { return o.ID }), at, l)
	}
}

func (p *parser) command(number int, at time.Duration, l *line) {
	c := l.command()
	c.At = at
	p.lines[linePart{"at", len(p.s.Commands)}] = number
	p.s.Commands = append(p.s.Commands, c)
}

func nextID[T any](items []T, id func(T) int) int {
	highest := 0
	for _, item := range items {
		highest = max(highest, id(item))
	}
	return highest + 1
}

func (p *parser) timed(number int, kind string, id int, l *line) {
	p.dated(number, kind, id, l.duration("a time such as 120ms"), l)
}

func (p *parser) dated(number int, kind string, id int, at time.Duration, l *line) {
	switch kind {
	case "op":
		p.lines[linePart{kind, len(p.s.Ops)}] = number
		op := l.op(id)
		op.At = at
		p.s.Ops = append(p.s.Ops, op)
	case "move":
		p.lines[linePart{kind, len(p.s.Migrations)}] = number
		m := l.migration(id)
		m.At = at
		p.s.Migrations = append(p.s.Migrations, m)
	default:
		p.lines[linePart{kind, len(p.s.Primaries)}] = number
		p.s.Primaries = append(p.s.Primaries, l.movePrimary(id, at))
	}
}

// single reads the facts of which there is one.
func (p *parser) single(number int, kind string, l *line) {
	if p.seen[kind] {
		l.fail(kind+" is given twice", "expected it once")
	}
	p.seen[kind] = true
	p.lines[linePart{kind, 0}] = number
	switch kind {
	case "name":
		p.s.Name = l.word("a name")
	case "seed":
		p.s.Seed = l.unsigned(l.word("a seed"), "a seed such as 42")
	case "planned":
		p.s.Planned = true
	case "target":
		p.s.Target = l.word("a target such as shardstore")
	case "protocol":
		p.s.Protocol = l.word("4.2 or 8.0")
	case "topology":
		p.s.Topology = l.topology()
	case "balancer":
		l.keyword("on")
		p.s.Balancer = true
	case "faults-end":
		p.s.FaultsEnd = l.duration("a time such as 8s")
	case "limit":
		p.s.Limit = l.duration("a time such as 60s")
	}
}
