package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
)

// Command is an operator's command to servers while the cluster runs.
type Command struct {
	At time.Duration
	Do commandkind.Name
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

// command reads what follows the start time.
func (l *line) command() Command {
	c := Command{Do: commandkind.Name(l.word("a command"))}
	for _, o := range operandsOf(c.Do) {
		o.read(l, &c)
	}
	return c
}

// String is the command's line.
func (c Command) String() string {
	text := fmt.Sprintf("at %s %s", c.At, c.Do)
	for _, o := range operandsOf(c.Do) {
		text += " " + o.print(&c)
	}
	return strings.TrimRight(text, " ")
}

func (s *Scenario) checkCommands(names Names) *defect {
	for i := range s.Commands {
		c := &s.Commands[i]
		switch {
		case c.At < 0:
			return flaw("at", i, "the start "+c.At.String()+" is negative", "a time of 0s or later")
		case !c.Do.Known():
			return flaw("at", i, "unknown command "+quoteWord(string(c.Do)),
				"one of "+commandkind.List())
		}
		for _, o := range operandsOf(c.Do) {
			if wrong, expected := o.flaw(s, names, c); wrong != "" {
				return flaw("at", i, wrong, expected)
			}
		}
		if unused := c.unprinted(); unused != "" {
			return flaw("at", i, "a "+string(c.Do)+" has no "+unused,
				"no more than the command's own operands")
		}
	}
	return nil
}

// unprinted names what the command carries and its line does not say; empty for nothing.
func (c *Command) unprinted() string {
	left := Command{At: c.At, Do: c.Do}
	l := &line{rest: strings.TrimPrefix(c.String(), fmt.Sprintf("at %s %s", c.At, c.Do))}
	for _, o := range operandsOf(c.Do) {
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
