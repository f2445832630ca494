// Package live is the real world: env for nodes that are processes, with the machine's clock, TCP
// between them and files on disk. The same code that runs in system/sim runs here.
//
// Promise: everything of a node happens on one goroutine, its loop; tasks are coroutines that run
// one at a time, each until it waits. Others reach the node by Run. What env promises holds as in
// system/sim: both pass the table of promises in system/env/envtest.
//
// Promise: a process may end at any moment. What Sync and Replace have returned for is on stable
// storage; everything else is as good as lost, and nothing that rests on it was sent before.
//
// Promise: a mistake ends the node, as a crash does: a failed assertion, a panic of a task, an
// error of the disk. Bytes from the network never do.
//
// Refusal: no determinism. A recorded seed answers Choose, but what happens between two choices is
// up to the machine.
package live

import (
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/tcp"
)

// Options make a node. ID, Boot, Codec and Folder are needed.
type Options struct {
	ID   env.NodeID
	Boot env.Boot
	// Codec makes bytes of messages that leave the node.
	Codec env.Codec
	// Folder is where the node's disk is, its seed and its incarnation. One process uses it.
	Folder string
	// Cluster names the cluster: nodes of another are not talked to.
	Cluster string
	// Peers are the addresses of all nodes that this one may send to.
	Peers map[env.NodeID]string
	// Listener takes the connections of other nodes; nil for a node that only calls.
	Listener net.Listener
	// Key is the secret that the nodes of a cluster share. Empty: Listener must be on loopback.
	Key []byte
	// ClockOffset is how far the node's wall clock is ahead of the machine's.
	ClockOffset time.Duration
	// Limits bound what other nodes can make this one do. The zero Limits are the defaults.
	Limits tcp.Limits
	// Classify names the class of a message, for names of tasks. Nil: all are "request".
	Classify func(env.Message) string
	// Observe is called on the loop with every event of the incarnation; it must not wait and not
	// keep the pointer. Nil: nobody is.
	Observe func(incarnation int, e *trace.Event)
	// Log is for people. Nil: nothing is logged.
	Log *slog.Logger
}

// ErrStopped is what Run returns when the node stops before the task has ended.
var ErrStopped = errors.New("the node has stopped")

// Broken is why a node ended by itself: a failed assertion, an Abort, a panic, a disk that fails.
type Broken struct {
	Node    env.NodeID
	Task    string
	Message string
	// Stack is for people.
	Stack string
}

// Error says what broke and where.
func (b *Broken) Error() string {
	return string(b.Node) + " (" + b.Task + "): " + b.Message
}

func (o *Options) fill() {
	if o.Classify == nil {
		o.Classify = func(env.Message) string { return "request" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(int, *trace.Event) {}
	}
}
