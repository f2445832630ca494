package scenario

import (
	"fmt"
	"strings"
	"time"
)

// Parse reads a scenario from text. name stands for the file in errors, which are of type
// *ParseError.
func Parse(name, text string) (*Scenario, error) { return ParseWith(name, text, Names{}) }

// ParseWith is Parse that also refuses names which the given ones do not know.
func ParseWith(name, text string, names Names) (*Scenario, error) {
	p := parser{file: name, s: new(Scenario), seen: map[string]bool{}, lines: map[part]int{}}
	for i, text := range strings.Split(text, "\n") {
		if err := p.line(i+1, text); err != nil {
			return nil, err
		}
	}
	if !p.seen[header] {
		return nil, p.wrongHeader(1, "the file is empty")
	}
	if f := p.s.check(names); f != nil {
		return nil, &ParseError{File: name, Line: p.lines[f.part], Wrong: f.wrong, Expected: f.expected}
	}
	return p.s, nil
}

// parser knows what has been read and on which line each part stood.
type parser struct {
	file  string
	s     *Scenario
	seen  map[string]bool
	lines map[part]int
}

func (p *parser) line(number int, text string) error {
	l := &line{rest: text}
	if strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") || !l.more() {
		return nil
	}
	if !p.seen[header] {
		return p.header(number, strings.TrimSpace(text))
	}
	p.fact(number, l)
	l.end()
	if !l.ok() {
		return &ParseError{File: p.file, Line: number, Wrong: l.wrong, Expected: l.expected}
	}
	return nil
}

func (p *parser) header(number int, text string) error {
	p.seen[header] = true
	switch version, ours := strings.CutPrefix(text, header+" "); {
	case !ours:
		return p.wrongHeader(number, "this is not a scenario")
	case version != fmt.Sprint(Schema):
		return p.wrongHeader(number, "the scenario has schema "+word(version))
	}
	return nil
}

func (p *parser) wrongHeader(number int, wrong string) error {
	expected := fmt.Sprintf("expected the first line to be \"%s %d\", as this build writes it", header, Schema)
	return &ParseError{File: p.file, Line: number, Wrong: wrong, Expected: expected}
}

const facts = "expected name, seed, planned, target, protocol, topology, balancer, faults-end, limit, collection, set, op, move, moveprimary, stream, fault, decide or at"

// fact reads one line of any kind.
func (p *parser) fact(number int, l *line) {
	switch kind := l.word("a fact"); kind {
	case "name", "seed", "planned", "target", "protocol", "topology", "balancer", "faults-end", "limit":
		p.single(number, kind, l)
	case "collection":
		p.lines[part{kind, len(p.s.Collections)}] = number
		p.s.Collections = append(p.s.Collections, l.collection())
	case "set":
		p.lines[part{kind, len(p.s.Settings)}] = number
		p.s.Settings = append(p.s.Settings, Setting{l.word("a setting"), l.word("its value")})
	case "op", "move", "moveprimary":
		id := l.number("a number")
		l.keyword("at")
		p.timed(number, kind, id, l)
	case "at":
		p.unnumbered(number, l)
	case "stream":
		p.lines[part{kind, len(p.s.Streams)}] = number
		p.s.Streams = append(p.s.Streams, l.stream())
	case "fault":
		p.lines[part{kind, len(p.s.Faults)}] = number
		p.s.Faults = append(p.s.Faults, l.fault())
	case "decide":
		p.lines[part{kind, len(p.s.Decisions)}] = number
		p.s.Decisions = append(p.s.Decisions, l.decision())
	default:
		l.fail("unknown fact "+word(kind), facts)
	}
}

// unnumbered reads "at TIME" and a command, which has no number. "at TIME client ...", "at TIME
// move ..." and "at TIME moveprimary ..." are for people who add a line and care for no number: it
// becomes the next after the highest so far.
func (p *parser) unnumbered(number int, l *line) {
	at := l.duration("a time such as 120ms")
	switch {
	case CommandKind(l.peek()).Known():
		p.command(number, at, l)
	case l.optional("move"):
		p.dated(number, "move", nextID(p.s.Migrations, func(m Migration) int { return m.ID }), at, l)
	case l.optional("moveprimary"):
		p.dated(number, "moveprimary", nextID(p.s.Primaries, func(m MovePrimary) int { return m.ID }), at, l)
	default:
		p.dated(number, "op", nextID(p.s.Ops, func(o Op) int { return o.ID }), at, l)
	}
}

func (p *parser) command(number int, at time.Duration, l *line) {
	c := l.command()
	c.At = at
	p.lines[part{"at", len(p.s.Commands)}] = number
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
		p.lines[part{kind, len(p.s.Ops)}] = number
		op := l.op(id)
		op.At = at
		p.s.Ops = append(p.s.Ops, op)
	case "move":
		p.lines[part{kind, len(p.s.Migrations)}] = number
		m := l.migration(id)
		m.At = at
		p.s.Migrations = append(p.s.Migrations, m)
	default:
		p.lines[part{kind, len(p.s.Primaries)}] = number
		p.s.Primaries = append(p.s.Primaries, l.movePrimary(id, at))
	}
}

// single reads the facts of which there is one.
func (p *parser) single(number int, kind string, l *line) {
	if p.seen[kind] {
		l.fail(kind+" is given twice", "expected it once")
	}
	p.seen[kind] = true
	p.lines[part{kind, 0}] = number
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
