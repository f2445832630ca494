package target

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Description is what is known of a kind of system before it is started: what it promises, and what
// can be asked of it.
type Description struct {
	// Name is what the target line of a scenario calls it, About one sentence for lists.
	Name, About string
	// Promises are the checkers that judge its runs. What others find is not held against it.
	Promises []checkers.Checker
	// Anomalies are those that some versions of it are known for.
	Anomalies []verdict.KnownAnomaly
	// Ops are the kinds of operations that its clients carry out.
	Ops []scenario.OpKind
	// Faults are the kinds of faults that make sense for it.
	Faults []string
	// Sites are the failpoints that its nodes announce.
	Sites []failpoint.Info
	// Settings are those that a scenario may set.
	Settings []Setting
	Messages Messages
	// Draw draws the scenario of a seed; nil when harness/generate knows how.
	Draw func(seed uint64) *scenario.Scenario
	// Parked says of a task, as its world describes it, that it waits for as long as its node
	// lives; nil: of none.
	Parked func(task string) bool
}

// Setting is one that a scenario may set.
type Setting struct {
	Name, Default, About string
	// Unit is what a plain number counts, Reader who goes by the setting; empty when there is
	// nothing to say.
	Unit, Reader string
	// Prefix, when set, starts the names of a family of settings, of which Name is one.
	Prefix string
	// Check says what is wrong with a value.
	Check func(name, value string) error
}

// Has reports whether the setting is the one of that name.
func (s *Setting) Has(name string) bool {
	return s.Name == name || s.Prefix != "" && strings.HasPrefix(name, s.Prefix)
}

// Messages is what must be known of the messages that nodes send each other.
type Messages struct {
	// Witness, when set, has a node emit what an exchange with it is worth to those who judge what
	// nodes say and do by what others see of it.
	Witness func(n env.Node, x *env.Exchange)
	// Tell, when set, makes of an exchange what a story may tell of it, nil for nothing, and says
	// which identifier the failpoint sites name that it passes. It is kept with the events of a
	// recorded run: nobody judges by it, and other runs do without.
	Tell func(x *env.Exchange) (told *trace.ExchangedEvent, about string)
	// Classify names the class of a message. Each world is given a classifier of its own.
	Classify func() func(env.Message) string
	// Names are the classes that there can be; nil: nobody has listed them.
	Names func() []string
	// Describe says what a reply answers, for people; nil: its type.
	Describe func(env.Message) string
	// Codec passes messages through bytes; nil when there is none.
	Codec env.Codec
	// Role is how much a class has to do with the outcome of a movement.
	Role func(class string) faults.MessageRole
	// Repeatable reports whether the network may deliver messages of a class twice.
	Repeatable func(class string) bool
}

// Setting finds a setting by its name, nil for none.
func (d *Description) Setting(name string) *Setting {
	i := slices.IndexFunc(d.Settings, func(s Setting) bool { return s.Has(name) })
	if i < 0 {
		return nil
	}
	return &d.Settings[i]
}

// Holds reports whether the system is held to the promise of the checker of that name.
func (d *Description) Holds(checker string) bool {
	return slices.ContainsFunc(d.Promises, func(c checkers.Checker) bool {
		return c.Name == checker
	})
}

// FactError is what is wrong with a fact of a scenario, the line of which starts with Fact.
type FactError struct {
	Fact string
	Err  error
}

// Error is the fact and what is wrong with it.
func (f *FactError) Error() string { return fmt.Sprintf("%s: %v", f.Fact, f.Err) }

// Unwrap is what is wrong.
func (f *FactError) Unwrap() error { return f.Err }
