package protocoltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/system/key"
)

// Line is one command of a script: a verb and its arguments, which are words or have values, as in
// "move 10 20 to=shard-b". What cannot be read ends the test with a panic that names the line.
type Line struct{ d *datadriven.TestData }

// async is the word with which a script does not wait for the answer to a request.
const async = "async"

// Verb is the first word of the line.
func (l Line) Verb() string { return l.d.Cmd }

// Async reports whether the script goes on before the request is answered.
func (l Line) Async() bool { return l.d.HasArg(async) }

// Words are the arguments without a value, in the order of the line.
func (l Line) Words() (all []string) {
	for _, a := range l.d.CmdArgs {
		if len(a.Vals) == 0 && a.Key != async {
			all = append(all, a.Key)
		}
	}
	return all
}

// Word is the word at place i, counted from 0.
func (l Line) Word(i int) string {
	if all := l.Words(); i < len(all) {
		return all[i]
	}
	panic(fmt.Sprintf("%s: %s needs %d words", l.d.Pos, l.d.Cmd, i+1))
}

// Has reports whether the word is on the line.
func (l Line) Has(word string) bool { return slices.Contains(l.Words(), word) }

// Keys are the words as numbers.
func (l Line) Keys() (all []int64) {
	for _, w := range l.Words() {
		all = append(all, number(w))
	}
	return all
}

// List is what the argument of that name holds: name=a or name=(a,b); nil when it is missing.
func (l Line) List(name string) []string {
	for _, a := range l.d.CmdArgs {
		if a.Key == name {
			return a.Vals
		}
	}
	return nil
}

// Arg is the first value of the argument of that name.
func (l Line) Arg(name, otherwise string) string {
	if vals := l.List(name); len(vals) > 0 {
		return vals[0]
	}
	return otherwise
}

// Number is the value of the argument of that name.
func (l Line) Number(name string, otherwise int64) int64 {
	if v := l.Arg(name, ""); v != "" {
		return number(v)
	}
	return otherwise
}

// Bound is the shard key in the argument of that name.
func (l Line) Bound(name string, otherwise key.Key) key.Key {
	if v := l.Arg(name, ""); v != "" {
		return Bound(v)
	}
	return otherwise
}

// Range is the range that the first two words bound.
func (l Line) Range() key.Range { return key.Range{Min: Bound(l.Word(0)), Max: Bound(l.Word(1))} }

// Bound is a shard key as scripts write it: a number, min, max, or open for a bound that the donor
// of a migration chooses.
func Bound(s string) key.Key {
	switch s {
	case "min", "MinKey":
		return key.Min
	case "max", "MaxKey":
		return key.Max
	case "open":
		return ""
	}
	return key.Int(number(s))
}

func number(s string) (n int64) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(fmt.Sprintf("%q is no number: %v", s, err))
	}
	return n
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}
