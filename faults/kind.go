// Package faults is everything that can go wrong with a cluster on purpose. Each kind of fault is
// one file that says what it does, what it is aimed at, how it is repaired and how to draw one; the
// number is its place in lists. A Driver carries out a plan of them.
//
// Promise: a fault happens when its trigger says, to whom its target names at that moment, and is
// undone after its time, at its event, or at the latest when the driver ends. Whatever happens is
// announced as a Fault and a Repair event.
//
// Refusal: faults never look into the store; they act through World and know roles from events
// alone.
package faults

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/histories/listed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// Kind is one fault package.
type Kind struct {
	// Name is how scenarios call it, About what it does in one line.
	Name, About string
	Aim         Aim
	Args        []Arg
	// inject does it and returns how it is undone; nil when nothing needs undoing.
	inject func(c *Case) (repair func())
	// draw plans one.
	draw func(d *Draw) scenario.Fault
}

// Aim is what a kind's Target names.
type Aim uint8

// The aims.
const (
	AtNode  Aim = iota // a node or a role
	AtLink             // "from>to", each a node, a role or "*"
	AtPoint            // the task that passes the trigger's site; Target may narrow it
)

// Arg is a parameter of a kind.
type Arg struct {
	Name, About, Default string
	check                func(value string) error
}

var declaredKinds listed.Entries[*Kind]

// declare adds a kind. It is called from package-level variables only. The place must be free.
func declare(place int, k Kind) *Kind { return declaredKinds.Declare(place, &k) }

// All is every kind, in the order in which they are listed.
func All() []*Kind { return declaredKinds.All() }

// Names lists the kinds.
func Names() []string {
	var names []string
	for _, k := range All() {
		names = append(names, k.Name)
	}
	return names
}

// Find returns the kind of that name, or an error that names the nearest ones.
func Find(name string) (*Kind, error) {
	for _, k := range All() {
		if k.Name == name {
			return k, nil
		}
	}
	return nil, suggest.Unknown("fault", name, Names(), "faults")
}

// Check says whether the fault can be carried out: its kind, its arguments, its triggers and its
// target make sense.
func Check(f scenario.Fault) error {
	k, err := Find(f.Kind)
	if err != nil {
		return err
	}
	if err := checkTrigger(f.When); err != nil {
		return err
	}
	if f.Until != nil {
		if err := checkTrigger(*f.Until); err != nil {
			return err
		}
	}
	if err := k.checkTarget(f); err != nil {
		return err
	}
	return k.checkArgs(f.Args)
}

func (k *Kind) checkArgs(args []scenario.Setting) error {
	for _, a := range args {
		decl := k.arg(a.Name)
		if decl == nil {
			return fmt.Errorf("fault %s has no argument %q; it takes %s",
				k.Name, a.Name, k.argNames())
		}
		if err := decl.check(a.Value); err != nil {
			return fmt.Errorf("fault %s: argument %s: %w", k.Name, a.Name, err)
		}
	}
	return nil
}

func (k *Kind) arg(name string) *Arg {
	for i := range k.Args {
		if k.Args[i].Name == name {
			return &k.Args[i]
		}
	}
	return nil
}

func (k *Kind) argNames() string {
	if len(k.Args) == 0 {
		return "none"
	}
	names := ""
	for i, a := range k.Args {
		if i > 0 {
			names += ", "
		}
		names += a.Name
	}
	return names
}

// World is the power over a cluster that faults need. Everything it does is part of the run's
// schedule.
type World interface {
	Now() env.Time
	// At runs fn inline at a time that is not in the past.
	At(t env.Time, fn func())
	Nodes() []env.NodeID
	Up(node env.NodeID) bool
	Crash(node env.NodeID)
	Restart(node env.NodeID)
	// StepDown asks the node to hand its primacy over gracefully.
	StepDown(node env.NodeID)
	// TakeOver has the node try to lead its set at once, although another one leads.
	TakeOver(node env.NodeID)
	// Hurry has operators give the next command, or ask for the next movement, at once.
	Hurry()
	// Interrupt fails every wait of the node's tasks whose names match: those that serve a request
	// have its name.
	Interrupt(node env.NodeID, match func(task string) bool, err error)
	// Partition cuts what from sends to, and with both also what to sends from.
	Partition(from, to []env.NodeID, both bool) (heal func())
	Disturb(r Rule) (remove func())
	// SlowDisk multiplies the latency of every disk operation.
	SlowDisk(node env.NodeID, factor int) (repair func())
	// ShiftClock moves the node's wall clock at once by jump, and from then on by ppm microseconds
	// a second.
	ShiftClock(node env.NodeID, jump time.Duration, ppm int) (repair func())
	// Choose asks the choice gate.
	Choose(kind, site string, n int) int
	Emit(e *trace.Event)
}

// Rule disturbs messages on the way. Percentages are drawn for each message from the choice gate.
type Rule struct {
	// From and To select the link; nil means any node.
	From, To func(env.NodeID) bool
	// Class selects by the name of the message; nil means every one.
	Class func(name string) bool
	// Body selects by what is in the message; nil means every one.
	Body func(env.Message) bool
	// Requests leaves answers alone, Replies everything else.
	Requests, Replies bool
	// Lose, LoseReply and Duplicate are per cent of the selected messages.
	Lose, LoseReply, Duplicate int
	// Delay is the longest additional latency; of a duplicate, how much later at most its copy sets
	// out.
	Delay time.Duration
	// Hold keeps the messages back until the rule is removed, and delivers them then; with Copy
	// they go their way, and a copy of each is kept back.
	Hold, Copy bool
	// Skip is how many of the selected messages go undisturbed first, Limit how many are disturbed
	// at most; zero: all.
	Skip, Limit int
	// Taken, when set, is told the sender of each message that is disturbed.
	Taken func(from env.NodeID)
}

// Action is what happens to a task at a point. The zero Action lets it pass.
type Action struct {
	// Crash crashes the node; the task never returns.
	Crash bool
	// Pause is how long the task stalls. Until, when set, is called with the function that
	// wakes the task instead.
	Pause time.Duration
	Until func(wake func())
	// Err is what the point returns.
	Err *errcode.Error
}

// Zero is true when the task passes unharmed.
func (a *Action) Zero() bool { return !a.Crash && a.Pause == 0 && a.Until == nil && a.Err == nil }
