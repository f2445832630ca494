// Package live carries out attacks on real servers: clients, operators and faults on the machine's
// clock, at the times that a schedule says. It is the one place of the harness where time is real;
// what an attack is, apart from that, is package attack.
//
// A System is reached by clients and operators, such as through a driver (mongodb). Servers are
// what it runs on, as far as the attack may touch it: processes of this machine (processes),
// containers, or nothing at all.
//
// Promise: a run is bounded by its schedule, by its context and by limits of its own, and ends
// whatever the servers do; when it returns, no goroutine of it is left. Every operation that was
// begun is in the history. Calls and answers have numbers of one counter, taken before the call and
// after the answer.
//
// Refusal: no determinism. A schedule repeated is another run.
package live

import (
	"context"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// System is what is attacked, as clients and operators see it. Its methods may be called from
// several goroutines, those of one Client from one at a time.
type System interface {
	// Create makes the collection with its chunks and its preloaded documents, and returns when
	// they are there. What was there under its name is dropped.
	Create(ctx context.Context, c scenario.Collection) error
	NewClient(id int) Client
	// Move asks for a movement and waits for its end; Command gives one of operators.
	Move(ctx context.Context, m scenario.Migration) error
	Command(ctx context.Context, c scenario.Command) error
	// StepDown has the primary of a set hand over.
	StepDown(ctx context.Context, set string) error
	Close() error
}

// Client is an application with one session, which carries out one operation at a time.
type Client interface {
	// Do carries out an operation, until it is certain of the outcome or ctx ends. Tick numbers the
	// moments at which parts of a result arrive.
	Do(ctx context.Context, op *scenario.Op, tick func() uint64) target.Answer
}

// Servers are what a System runs on, as far as it may be touched.
type Servers interface {
	// Faults are the kinds that can be done to them.
	Faults() []string
	// Inject does it; node is the server that the fault's target means now, other the second end of
	// a link. It returns how it is undone, which is called once; nil for nothing.
	Inject(ctx context.Context, f *Fault) (repair func(context.Context) error, err error)
	// Resolve is the server that a role such as "shard-a.primary" means now.
	Resolve(ctx context.Context, role string) (node string, err error)
	// Settle starts what is down, waits until the servers are healthy, or says what is not.
	Settle(ctx context.Context) error
	// Ended are those that ended although nobody had ended them, so far.
	Ended() []attack.Ended
}

// Fault is one of a schedule, with the servers that it means.
type Fault struct {
	scenario.Fault
	Kind *attack.Kind
	// Node is the server, or the set of an attack.AtSet. Other is the second end of a link.
	Node, Other string
}
