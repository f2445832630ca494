package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Operand is a part of a command's line: how it is read, how it is printed, and what is wrong with
// one that was read. Wrong is empty for nothing.
type Operand struct {
	// expected says what stands there, as lists and errors say it.
	expected string
	read     func(l *line, c *Command)
	print    func(c *Command) string
	flaw     func(s *Scenario, names Names, c *Command) (wrong, expected string)
}

// named is an operand that is the command's Name.
func named(expected string, flaw func(*Scenario, Names, *Command) (string, string)) Operand {
	return Operand{
		expected: expected,
		read:     func(l *line, c *Command) { c.Name = l.word(expected) },
		print:    func(c *Command) string { return word(c.Name) },
		flaw:     flaw,
	}
}

// valued is an operand that is the command's Value.
func valued(expected string, right func(value string) bool) Operand {
	return Operand{
		expected: expected,
		read:     func(l *line, c *Command) { c.Value = l.word(expected) },
		print:    func(c *Command) string { return word(c.Value) },
		flaw: func(_ *Scenario, _ Names, c *Command) (string, string) {
			if !right(c.Value) {
				return "unexpected " + word(c.Value), expected
			}
			return "", ""
		},
	}
}

// keyed is an operand that is the command's Min.
func keyed(expected string) Operand {
	return Operand{
		expected: expected,
		read:     func(l *line, c *Command) { c.Min = l.integer(l.word(expected), expected) },
		print:    func(c *Command) string { return strconv.FormatInt(c.Min, 10) },
		flaw: func(_ *Scenario, _ Names, c *Command) (string, string) {
			if c.Min == MinKey || c.Min == MaxKey {
				return bound(c.Min) + " is no key", expected
			}
			return "", ""
		},
	}
}

// The operands of commands. Each fills in one part of a Command, so a kind can have each only once,
// and at most one of those that fill in the same: names a NamespaceOperand or a ShardOperand, values
// a ZoneOperand, an OnOrOffOperand or a BytesOperand, keys a KeyOperand or a RangeOperand.
var (
	settingName = named("a setting", func(_ *Scenario, names Names, c *Command) (string, string) {
		if names.Setting == nil {
			return "", ""
		}
		if err := names.Setting(c.Name); err != nil {
			return err.Error(), ""
		}
		return "", ""
	})
	settingValue     = valued("its value", func(string) bool { return true })
	NamespaceOperand = named("a namespace such as test.docs",
		func(s *Scenario, _ Names, c *Command) (string, string) {
			if s.collection(c.Name) == nil {
				return "there is no collection " + word(c.Name), "one of the collections above"
			}
			return "", ""
		})
	ShardOperand = named("a shard such as shard-b",
		func(s *Scenario, _ Names, c *Command) (string, string) {
			if n, ok := shardNumber(c.Name); !ok || n >= s.Topology.Shards {
				return "there is no shard " + word(c.Name), "a shard from shard-a to " +
					ShardName(s.Topology.Shards-1)
			}
			return "", ""
		})
	document = named("a document of config.settings such as balancer",
		func(_ *Scenario, _ Names, c *Command) (string, string) {
			if _, ok := settingsDocuments[c.Name]; !ok {
				return "nothing of config.settings is called " +
					word(c.Name), strings.Join(slices.Sorted(maps.Keys(settingsDocuments)), ", ")
			}
			return "", ""
		})
	ZoneOperand = valued("a zone such as east, or none", func(v string) bool {
		return v != "" && !strings.ContainsAny(v, ", ")
	})
	OnOrOffOperand = valued("on or off", func(v string) bool { return v == "on" || v == "off" })
	BytesOperand   = valued("a number of bytes such as 400", func(v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		return err == nil && n >= 0
	})
	cut          = keyed("where the chunk is cut, such as 17")
	KeyOperand   = keyed("a key of the chunk, such as 17")
	RangeOperand = Operand{
		read:  func(l *line, c *Command) { c.Min, c.Max = l.span("a range such as [MinKey, 20)") },
		print: func(c *Command) string { return bounds(c.Min, c.Max) },
		flaw: func(_ *Scenario, _ Names, c *Command) (string, string) {
			if c.Min >= c.Max {
				return "the range " + bounds(c.Min,
					c.Max) + " is empty", "a range such as [MinKey, 20)"
			}
			return "", ""
		},
	}
	fields = Operand{expected: "fields such as mode=full", read: readFields, print: printFields,
		flaw: flawOfFields}
)

func readFields(l *line, c *Command) {
	l.pairs("fields such as mode=full", func(name, value string) bool {
		c.Fields = append(c.Fields, Setting{name, value})
		return true
	})
}

func printFields(c *Command) string {
	pairs := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		pairs[i] = fmt.Sprintf("%s=%s", word(f.Name), word(f.Value))
	}
	return strings.Join(pairs, " ")
}

func flawOfFields(_ *Scenario, _ Names, c *Command) (wrong, expected string) {
	known := settingsDocuments[c.Name]
	for i, f := range c.Fields {
		switch again := func(other Setting) bool { return other.Name == f.Name }; {
		case !slices.Contains(known, f.Name):
			return "unknown field " + word(f.Name), strings.Join(known, "=, ") + "="
		case slices.ContainsFunc(c.Fields[:i], again):
			return f.Name + "= is given twice", "it once"
		}
	}
	return "", ""
}
