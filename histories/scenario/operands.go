package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories/commandkind"
)

// operand is how a part of a command's line is read and printed, and what is wrong with one that
// was read. Wrong is empty for nothing.
type operand struct {
	read  func(l *line, c *Command)
	print func(c *Command) string
	flaw  func(s *Scenario, names Names, c *Command) (wrong, expected string)
}

var operands = map[commandkind.Operand]operand{
	commandkind.Namespace:    aboutOperand(commandkind.Namespace, flawOfNamespace),
	commandkind.Shard:        aboutOperand(commandkind.Shard, flawOfShard),
	commandkind.SettingName:  aboutOperand(commandkind.SettingName, flawOfSetting),
	commandkind.Document:     aboutOperand(commandkind.Document, flawOfDocument),
	commandkind.Zone:         valueOperand(commandkind.Zone, isZone),
	commandkind.OnOrOff:      valueOperand(commandkind.OnOrOff, isOnOrOff),
	commandkind.Bytes:        valueOperand(commandkind.Bytes, isBytes),
	commandkind.SettingValue: valueOperand(commandkind.SettingValue, isAnything),
	commandkind.Key:          keyOperand(commandkind.Key),
	commandkind.SplitPoint:   keyOperand(commandkind.SplitPoint),
	commandkind.Range:        {readRange, printRange, flawOfRange},
	commandkind.Fields:       {readFields, printFields, flawOfFields},
}

// operandsOf are what follows the name of a kind, in its order.
func operandsOf(k commandkind.Name) (all []operand) {
	for _, o := range k.Operands() {
		all = append(all, operands[o])
	}
	return all
}

// aboutOperand is an operand that is the command's Name.
func aboutOperand(
	o commandkind.Operand, flaw func(*Scenario, Names, *Command) (wrong, expected string),
) operand {
	return operand{
		read:  func(l *line, c *Command) { c.Name = l.word(o.String()) },
		print: func(c *Command) string { return quoteWord(c.Name) },
		flaw:  flaw,
	}
}

// valueOperand is an operand that is the command's Value.
func valueOperand(o commandkind.Operand, right func(value string) bool) operand {
	return operand{
		read:  func(l *line, c *Command) { c.Value = l.word(o.String()) },
		print: func(c *Command) string { return quoteWord(c.Value) },
		flaw: func(_ *Scenario, _ Names, c *Command) (string, string) {
			if !right(c.Value) {
				return "unexpected " + quoteWord(c.Value), o.String()
			}
			return "", ""
		},
	}
}

// keyOperand is an operand that is the command's Min.
func keyOperand(o commandkind.Operand) operand {
	return operand{
		read: func(l *line, c *Command) {
			c.Min = l.integer(l.word(o.String()), o.String())
		},
		print: func(c *Command) string { return strconv.FormatInt(c.Min, 10) },
		flaw: func(_ *Scenario, _ Names, c *Command) (string, string) {
			if c.Min == MinKey || c.Min == MaxKey {
				return boundText(c.Min) + " is no key", o.String()
			}
			return "", ""
		},
	}
}

func flawOfNamespace(s *Scenario, _ Names, c *Command) (wrong, expected string) {
	if s.collection(c.Name) == nil {
		return "there is no collection " + quoteWord(c.Name), "one of the collections above"
	}
	return "", ""
}

func flawOfShard(s *Scenario, _ Names, c *Command) (wrong, expected string) {
	if n, ok := shardNumber(c.Name); !ok || n >= s.Topology.Shards {
		return "there is no shard " + quoteWord(c.Name),
			"a shard from shard-a to " + ShardName(s.Topology.Shards-1)
	}
	return "", ""
}

func flawOfSetting(_ *Scenario, names Names, c *Command) (wrong, expected string) {
	if names.Setting == nil {
		return "", ""
	}
	if err := names.Setting(c.Name); err != nil {
		return err.Error(), ""
	}
	return "", ""
}

func flawOfDocument(_ *Scenario, _ Names, c *Command) (wrong, expected string) {
	if _, ok := commandkind.SettingsDocuments[c.Name]; !ok {
		return "nothing of config.settings is called " + quoteWord(c.Name),
			strings.Join(slices.Sorted(maps.Keys(commandkind.SettingsDocuments)), ", ")
	}
	return "", ""
}

func isZone(value string) bool { return value != "" && !strings.ContainsAny(value, ", ") }

func isOnOrOff(value string) bool { return value == "on" || value == "off" }

func isAnything(string) bool { return true }

func isBytes(value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	return err == nil && n >= 0
}

func readRange(l *line, c *Command) { c.Min, c.Max = l.span(commandkind.Range.String()) }

func printRange(c *Command) string { return rangeText(c.Min, c.Max) }

func flawOfRange(_ *Scenario, _ Names, c *Command) (wrong, expected string) {
	if c.Min >= c.Max {
		return "the range " + rangeText(c.Min, c.Max) + " is empty", commandkind.Range.String()
	}
	return "", ""
}

func readFields(l *line, c *Command) {
	l.pairs(commandkind.Fields.String(), func(name, value string) bool {
		c.Fields = append(c.Fields, Setting{name, value})
		return true
	})
}

func printFields(c *Command) string {
	pairs := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		pairs[i] = fmt.Sprintf("%s=%s", quoteWord(f.Name), quoteWord(f.Value))
	}
	return strings.Join(pairs, " ")
}

func flawOfFields(_ *Scenario, _ Names, c *Command) (wrong, expected string) {
	known := commandkind.SettingsDocuments[c.Name]
	if c.Do == commandkind.AddShard {
		known = commandkind.AddShardFields
	}
	for i, f := range c.Fields {
		switch again := func(other Setting) bool { return other.Name == f.Name }; {
		case !slices.Contains(known, f.Name):
			return "unknown field " + quoteWord(f.Name), strings.Join(known, "=, ") + "="
		case slices.ContainsFunc(c.Fields[:i], again):
			return f.Name + "= is given twice", "it once"
		}
	}
	return "", ""
}
