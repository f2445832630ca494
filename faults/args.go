package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// taskArg, aboutArg and passesArg choose the pass at which a fault happens that has no failpoint as
// its trigger.
var (
	taskArg = textArg("task", "for a fault that a time triggers: it hits only tasks that carry out "+
		"this command or, with step-up, those that a newly elected primary runs; empty: any task", "")
	aboutArg = textArg("about", "for a fault that a time triggers: it hits only at failpoints that "+
		"concern this object, such as the collection test.docs; empty: any object", "")
	passesArg = numberArg("passes", "for a fault that a time triggers: how many failpoints that "+
		"it could hit are passed, by all such tasks together, before it hits", 0, 1_000_000, 0)
)

func durationArg(name, about, value string) Arg {
	return Arg{Name: name, About: about, Default: value, check: func(v string) error {
		if d, err := time.ParseDuration(v); err != nil || d == 0 {
			return fmt.Errorf("%q is not a duration such as %s", v, value)
		}
		return nil
	}}
}

func numberArg(name, about string, low, high, value int) Arg {
	return Arg{Name: name, About: about, Default: strconv.Itoa(value), check: func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a whole number from %d to %d", v, low, high)
		}
		return nil
	}}
}

func wordArg(name, about string, words ...string) Arg {
	return Arg{Name: name, About: about, Default: words[0], check: func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(words, ", "))
		}
		return nil
	}}
}

func textArg(name, about, value string) Arg {
	return Arg{Name: name, About: about, Default: value, check: func(v string) error {
		if v == "" || strings.ContainsAny(v, " \t\"") {
			return fmt.Errorf("%q is not a single word", v)
		}
		return nil
	}}
}

// text is the argument's value in this case, or its default.
func (c *Case) text(name string) string {
	for _, a := range c.Fault.Args {
		if a.Name == name {
			return a.Value
		}
	}
	return c.Kind.arg(name).Default
}

func (c *Case) number(name string) int {
	n, err := strconv.Atoi(c.text(name))
	if err != nil {
		panic(fmt.Sprintf("faults: argument %s of fault %d was accepted but is no number: %v",
			name, c.Fault.ID, err))
	}
	return n
}

func (c *Case) duration(name string) time.Duration {
	d, err := time.ParseDuration(c.text(name))
	if err != nil {
		panic(fmt.Sprintf("faults: argument %s of fault %d was accepted but is no duration: %v",
			name, c.Fault.ID, err))
	}
	return d
}
