// Package env is what code of the sharded store may ask of its world, and nothing else: tasks,
// time, messages, a disk, choices, announcements. It holds no implementation; system/sim is the
// deterministic world and system/live will be the real one.
//
// Promise: between two blocking calls (those that return an error because they may be interrupted)
// a task runs alone on its node, in every world. There are therefore no locks: what must hold
// across a wait is an explicit object of the system (a critical section, a checked-out session),
// never an accident of scheduling.
//
// Refusal: no wall time, no goroutine, no global randomness. Everything that is not decided by the
// code itself is asked through Choose, whose answer a plan can fix.
package env

import (
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/failpoint"
)

// NodeID names a node for the whole life of a cluster, over all its incarnations, for example
// "shard-a.0", "config.2", "router.1" or "client.3".
type NodeID string

// Time is a point on some clock, in nanoseconds since the world began. The zero Time is that
// beginning.
type Time int64

// Add returns the time d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns how much later t is than u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Message is a request, a response or a one-way message: a pointer to a struct known to the world's
// Codec. The sender of a message never changes it afterwards, and its receiver never changes it at
// all; a world may prove this by passing every message through its codec.
type Message any

// Codec turns messages into bytes and back. A simulated world uses it to prove that no state is
// shared between nodes, a live one to reach other processes.
type Codec interface {
	Encode(Message) ([]byte, error)
	Decode([]byte) (Message, error)
}

// Handler answers one request; it runs in a task of its own. An error that is not a *errcode.Error
// reaches the caller as errcode.Internal.
type Handler func(t Task, from NodeID, req Message) (Message, error)

// Receiver takes one-way messages. It runs inline, outside any task, and must not block.
type Receiver func(from NodeID, m Message)

// Boot starts one incarnation of a node. It runs in the node's first task; everything in memory is
// built again from it.
type Boot func(t Task)

// Choice is the kind of a question asked at the choice gate. Together with the site and the count
// of earlier questions of the same kind and site it is the identity of the question, so that
// answers do not depend on unrelated events.
type Choice string

// Node is one incarnation of a process: it ends with a crash, and the next incarnation is another
// Node with the same ID and Disk.
type Node interface {
	ID() NodeID
	// Incarnation is 1 at the first boot and one more after every crash.
	Incarnation() int
	// Now is the node's wall clock. It may be skewed, drift and jump, also backwards.
	Now() Time
	// Mono never goes back within one incarnation. Deadlines are measured with it.
	Mono() Time
	Disk() Disk
	// Serve sets the handler of requests; before it is called, callers see errcode.HostUnreachable.
	Serve(h Handler)
	// Receive sets the receiver of one-way messages; before it is called they are lost.
	Receive(r Receiver)
	// Send passes m on without waiting. It may arrive late, twice or never, and after later ones.
	Send(to NodeID, m Message)
	// Spawn starts a task. A nil scope is the node's own, which is never cancelled. The task starts
	// after the caller's next wait. When the scope is already cancelled, the task runs and its
	// first wait fails.
	Spawn(scope *Scope, name string, fn func(Task))
	// After runs fn inline, outside any task, once d has passed on the node's monotonic clock; fn
	// must not block.
	After(d time.Duration, fn func()) Timer
	// Choose answers with a number in [0,n). It panics for n < 1.
	Choose(kind Choice, site string, n int) int
	// Emit records an event for the oracles and the trace. The world sets Step, At and Node.
	Emit(e *trace.Event)
	// Assert stops the whole run when ok is false: an invariant of the system is broken.
	Assert(ok bool, format string, args ...any)
	// Abort ends the process at once, as a crash does, for it must not go on with what it knows. A
	// task that calls it goes no further.
	Abort(why string)
	// Sometimes notes that a situation worth reaching was reached.
	Sometimes(name string)
}

// Timer is a pending After.
type Timer interface {
	// Stop prevents the timer from firing; it does nothing when it has fired.
	Stop()
}

// Note says more about the moment at which a Point is announced. The zero Note is allowed.
type Note struct {
	// Peer is the other side, as a shard or node name.
	Peer string
	// ID identifies the work in progress: a migration, a session, a cursor.
	ID string
	// N is a count: the batch, the retry, the document.
	N int
}

// Task is a thread of control on one node. Only the task itself calls its methods, except Unpark
// and Interrupt.
//
// Every method that returns an error may wait. When the task's scope is cancelled, or the task is
// interrupted, the wait ends at once with that error, and so does every later one, until the task
// ends.
type Task interface {
	Node() Node
	Name() string
	Scope() *Scope
	// Err is the reason why the task is to end, or nil.
	Err() error
	// Sleep waits for d on the monotonic clock.
	Sleep(d time.Duration) error
	// Yield is a place at which a real server can be descheduled: the world may let others run for
	// a while. It also announces the site.
	Yield(site failpoint.Site) error
	// Point announces that the task has reached the site. The world may pause the task there, crash
	// the node (then the call never returns) or have it return an error, which the caller handles
	// as a failure of the step.
	Point(site failpoint.Site, n Note) error
	// Call sends a request and waits for the response. Errors: errcode.NetworkTimeout after the
	// timeout, when the request may or may not have been executed; errcode.HostUnreachable when no
	// process listens there; regardless of what the handler returned. A timeout of zero or less
	// means no limit.
	Call(to NodeID, req Message, timeout time.Duration) (Message, error)
	// Spawn starts a task on the same node and in the same scope.
	Spawn(name string, fn func(Task))
	// Park waits until Unpark, or until the timeout, then with errcode.ExceededTimeLimit. Zero or
	// less means no limit. Use Cond rather than Park.
	Park(timeout time.Duration) error
	// Unpark ends the task's current Park; it does nothing when the task is not in Park.
	Unpark()
	// Interrupt has every present and later wait of the task fail with err. The first error stays.
	Interrupt(err error)
	// Wrote notes for those who judge the task's answer that it has written an entry of its node's
	// log, in a term: the newest counts. It has no effect on the task.
	Wrote(term, index uint64)
}

// Disk is the durable part of a node: named files that survive a crash as far as they were synced.
// Operations take time, one after the other. A crash keeps everything synced, and of the rest a
// prefix of the appended bytes, possibly torn inside a record. The disk keeps the bytes that it is
// given; nobody changes them afterwards. What survived one crash without a Sync need not survive
// the next.
type Disk interface {
	// Append adds p at the end of the file, which is made when missing, and does not wait for it.
	// Durable after the next Sync of the file.
	Append(t Task, file string, p []byte) error
	// Sync makes everything appended so far durable.
	Sync(t Task, file string) error
	// Replace sets the whole content atomically: after a crash the file holds the old or the new
	// content, the new one for sure once Replace has returned.
	Replace(t Task, file string, p []byte) error
	// Read returns the content, nil for a file that does not exist.
	Read(t Task, file string) ([]byte, error)
}
