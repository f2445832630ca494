// Package commandkind is the table of what operators can ask for: the kinds of commands, and what
// follows the name of each on its line of a scenario. Who reads, prints or checks commands asks
// this table and knows no kind by name.
//
// A kind that drawn scenarios have is one file here; any other can be declared where a store
// carries it out:
//
//	var _ = commandkind.Declare(135, "zone-clear", commandkind.Namespace, commandkind.Range)
//
// The number is the kind's place in lists.
//
// Promise: everything here is a fact about the kind, the same for every store and every run.
//
// Refusal: no line is read and no command is carried out here.
package commandkind

import (
	"strings"

	"github.com/shardproof/shardproof/histories/listed"
)

// Name is what a command does, as scenarios call it.
type Name string

// Operand is what can follow the name of a command. Each fills in one part of the command, so a
// kind can have each only once, and at most one of those that fill in the same.
type Operand uint8

// The operands. The first four say what the command is about, the next four are a value, and the
// others but the last are keys.
const (
	Namespace Operand = iota + 1
	Shard
	SettingName
	Document
	Zone
	OnOrOff
	Bytes
	SettingValue
	Key
	SplitPoint
	Range
	Fields
)

var expectedOperands = [...]string{
	Namespace:    "a namespace such as test.docs",
	Shard:        "a shard such as shard-b",
	SettingName:  "a setting",
	Document:     "a document of config.settings such as balancer",
	Zone:         "a zone such as east, or none",
	OnOrOff:      "on or off",
	Bytes:        "a number of bytes such as 400",
	SettingValue: "its value",
	Key:          "a key of the chunk, such as 17",
	SplitPoint:   "where the chunk is cut, such as 17",
	Range:        "a range such as [MinKey, 20)",
	Fields:       "fields such as mode=full",
}

// String says what stands there, as lists and errors say it.
func (o Operand) String() string { return expectedOperands[o] }

var (
	declaredKinds  listed.Entries[Name]
	operandsByName = map[Name][]Operand{}
)

// Declare adds a kind, with what follows its name on a line. It is called from package-level
// variables only. The place must be free.
func Declare(place int, name Name, operands ...Operand) Name {
	operandsByName[name] = operands
	return declaredKinds.Declare(place, name)
}

// Known says whether the kind is one that an operator can give.
func (n Name) Known() bool {
	_, known := operandsByName[n]
	return known
}

// Operands are what follows the name; none for a kind that is not known.
func (n Name) Operands() []Operand { return operandsByName[n] }

// All are the names of all kinds, by their places.
func All() []Name { return declaredKinds.All() }

// List is All as text, with commas between the names.
func List() string {
	var names []string
	for _, n := range All() {
		names = append(names, string(n))
	}
	return strings.Join(names, ", ")
}
