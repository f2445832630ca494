package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Command is an operator's command to servers while the cluster runs.
type Command struct {
	At time.Duration
	Do CommandKind
	// Name is what it is about: a setting, a namespace, a shard or a document of config.settings.
	Name string
	// Value is that of the setting, the zone, a number of bytes, or "on" or "off".
	Value string
	// Min is where a chunk is cut, or a key of the chunk that is meant; Min and Max bound a range,
	// as in Migration.
	Min, Max int64
	// Fields are those of the document.
	Fields []Setting
}

// CommandKind is what a command does.
type CommandKind string

// commandLine is a kind of command with what follows its name, and its place in lists.
type commandLine struct {
	place    int
	kind     CommandKind
	operands []Operand
}

// commandLines are all kinds of commands, in no order.
var commandLines []commandLine

// DeclareCommand adds a kind of command, with what follows its name on a line. It is called from
// package-level variables only. The place, which is that in lists, must be free. Kinds that drawn
// scenarios have are files of this package; any other can be declared where it is carried out.
func DeclareCommand(place int, kind CommandKind, operands ...Operand) CommandKind {
	commandLines = append(commandLines, commandLine{place, kind, operands})
	return kind
}

// operandsOf are what follows the name of a kind; false for a kind that is not known.
func operandsOf(k CommandKind) ([]Operand, bool) {
	for _, c := range commandLines {
		if c.kind == k {
			return c.operands, true
		}
	}
	return nil, false
}

// Known says whether the kind is one that an operator can give.
func (k CommandKind) Known() bool {
	_, known := operandsOf(k)
	return known
}

// CommandKinds are all kinds of commands, by their places.
func CommandKinds() (all []CommandKind) {
	lines := slices.Clone(commandLines)
	slices.SortFunc(lines, func(a, b commandLine) int { return cmp.Compare(a.place, b.place) })
	for _, c := range lines {
		all = append(all, c.kind)
	}
	return all
}

// Operands says in words what follows the name of the kind; none for a kind that is not known.
func (k CommandKind) Operands() (all []string) {
	operands, _ := operandsOf(k)
	for _, o := range operands {
		all = append(all, o.expected)
	}
	return all
}

func commandList() string {
	var all []string
	for _, k := range CommandKinds() {
		all = append(all, string(k))
	}
	return strings.Join(all, ", ")
}

// command reads what follows the start time.
func (l *line) command() Command {
	c := Command{Do: CommandKind(l.word("a command"))}
	operands, _ := operandsOf(c.Do)
	for _, o := range operands {
		o.read(l, &c)
	}
	return c
}

// String is the command's line.
func (c Command) String() string {
	text := fmt.Sprintf("at %s %s", c.At, c.Do)
	operands, _ := operandsOf(c.Do)
	for _, o := range operands {
		text += " " + o.print(&c)
	}
	return strings.TrimRight(text, " ")
}

func (s *Scenario) checkCommands(names Names) *defect {
	for i := range s.Commands {
		c := &s.Commands[i]
		operands, known := operandsOf(c.Do)
		switch {
		case c.At < 0:
			return flaw("at", i, "the start "+c.At.String()+" is negative", "a time of 0s or later")
		case !known:
			return flaw("at", i, "unknown command "+word(string(c.Do)), "one of "+commandList())
		}
		for _, o := range operands {
			if wrong, expected := o.flaw(s, names, c); wrong != "" {
				return flaw("at", i, wrong, expected)
			}
		}
		if unused := c.bare(operands); unused != "" {
			return flaw("at", i, "a "+string(c.Do)+" has no "+unused,
				"no more than the command's own operands")
		}
	}
	return nil
}

// bare names what the command carries and its line does not say; empty for nothing.
func (c *Command) bare(operands []Operand) string {
	left := Command{At: c.At, Do: c.Do}
	l := &line{rest: strings.TrimPrefix(c.String(), fmt.Sprintf("at %s %s", c.At, c.Do))}
	for _, o := range operands {
		o.read(l, &left)
	}
	switch {
	case left.Name != c.Name:
		return "name"
	case left.Value != c.Value:
		return "value"
	case left.Min != c.Min || left.Max != c.Max:
		return "range"
	case !slices.Equal(left.Fields, c.Fields):
		return "fields"
	}
	return ""
}
