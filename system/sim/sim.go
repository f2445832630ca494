// Package sim is the deterministic world: every node of a cluster, the network between them, their
// disks and clocks, in virtual time on the caller's goroutine.
//
// Promise: a world made from equal Options and driven by equal control code passes the same steps,
// in every process and on every machine; Hash is what to compare. Every question that chance
// decides goes through one Choices, so that the recorded Decisions of a run replay it step by step,
// and taking one away leaves all the others as they were.
//
// Promise: a crash loses exactly what a real one may lose: everything in memory, messages in
// transit to the node, and of each file a drawn suffix of the bytes not yet synced. Deferred
// functions of a crashed node do not run before Close, and then against a frozen world.
//
// Refusal: no wall time, no goroutine besides the caller's (tasks are coroutines), no state shared
// between worlds. A task that never waits hangs the world: its caller watches Steps from outside.
package sim

import (
	"fmt"
	"io"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/coroutine"
	"github.com/shardproof/shardproof/system/env"
)

// Pool keeps idle coroutines from one world to the next.
type Pool = coroutine.Pool

// Options make a world. The zero Options are a quiet world with seed 0, default latencies and no
// faults.
type Options struct {
	// Seed answers every question at the gate that Decisions leave open.
	Seed uint64
	// Planned has faults that chance would decide happen only as Decisions say.
	Planned bool
	// Decisions are explicit answers.
	Decisions []Decision
	// Codec, when set, passes every message through bytes and proves that nobody changed one after
	// sending.
	Codec env.Codec
	// Witness, when set, is shown every exchange, and has the node emit what is worth an event. It
	// must not keep the pointer.
	Witness func(n env.Node, x *env.Exchange)
	// OnOneWay, when set, is shown every message that sets out and that nobody answers.
	OnOneWay func(from env.NodeID, m env.Message)
	// Classify names the class of a message, for sites, rules and traces. Nil: all are of class
	// "message".
	Classify func(env.Message) string
	// Describe says what a reply answers, for people. Nil: its class.
	Describe func(env.Message) string
	// Observer takes every emitted event.
	Observer trace.Observer
	// OnPoint decides what happens where a task announces a site. Nil: nothing.
	OnPoint func(*PointHit) Action
	// TracePoints emits an trace.PointHit for every announced site.
	TracePoints bool
	// Between is called before every step of a run, when no task is running: it may look, and must
	// change nothing. Nil: nothing.
	Between func()
	// OnStep is called with every step of the trace as it begins. Nil: nobody is.
	OnStep func(Step)
	// OnDecision is called with every fault that chance decides, at the step at which it does. Nil:
	// nobody is.
	OnDecision func(Decision)
	// OnInjectionPoint is called with every message that sets out and every disk operation that
	// begins. Nil: nobody is.
	OnInjectionPoint func(InjectionPoint)
	// Network, Disk and Clock are what the world is made of.
	Network Network
	Disk    DiskTiming
	// Service is the virtual time that every start and step of a task takes. Zero: 1 microsecond;
	// negative: none.
	Service time.Duration
	// YieldOdds is how often a Yield lets others run, for up to YieldMax. Zero: one in eight, and
	// 200 microseconds; negative YieldMax: never.
	YieldProbability Probability
	YieldMax         time.Duration
	// Steps stops a run after so many steps in total. Zero: no limit.
	Steps uint64
	// Trace takes one line of text for every step in the Window.
	Trace  io.Writer
	Window Window
	// Pool keeps coroutines from one world to the next. Nil: the world has its own.
	Pool *Pool
}

// InjectionPoint is a moment of the network or of a disk at which the gate is asked about faults:
// Site and Nth are the identity of its questions. Of a message Node is the sender, Class its name
// without ".reply".
type InjectionPoint struct {
	Site        string
	Nth         uint64
	Node        env.NodeID
	Class       string
	Call, Reply bool
	// Durable is true for an operation of a disk after which data survives a crash.
	Durable bool
}

// Step is what one step of the trace is: its kind ("start", "deliver" and so on), where it happens
// and what it is about: the task, the channel, the operation, the kind of the event. Nth counts the
// messages of a channel, as an InjectionPoint does; it is 0 where there is nothing to count.
type Step struct {
	Kind string
	Node env.NodeID
	Name string
	Nth  uint64
}

// Window is a range of steps, both included. The zero Window is all of them.
type Window struct{ From, To uint64 }

func (v Window) contains(step uint64) bool { return step >= v.From && (v.To == 0 || step <= v.To) }

// Latency is how long a message takes: Base, and up to Jitter more.
type Latency struct{ Base, Jitter time.Duration }

// Network is the behaviour of all links unless a Rule says otherwise.
type Network struct {
	// Latency is asked once for each ordered pair. Nil: 100 microseconds and up to 400 more; a node
	// reaches itself in 5.
	Latency func(from, to env.NodeID) Latency
	// Loss, Duplicate, LoseReply and Tail are the odds of each message; a Tail adds up to TailDelay
	// (zero: 50 ms).
	Loss, Duplicate, LoseReply, Tail Probability
	TailDelay                        time.Duration
	// ChainDelay is what a slow chain takes longer at most. Zero: 20 ms.
	ChainDelay time.Duration
	// FIFO keeps the order of messages on a link.
	FIFO bool
	// Keepalive is after how long a call without a limit fails when its request or reply was lost.
	// Zero: 30 seconds.
	Keepalive time.Duration
}

// DiskTiming is the behaviour of all disks.
type DiskTiming struct {
	// Append, Sync, Replace and Read are the latencies of the operations. Zero: 10, 100, 150 and 50
	// microseconds, and as much again at most.
	Append, Sync, Replace, Read Latency
	// Tail is the odds of a slow operation, which takes up to TailDelay longer (zero: 50 ms).
	Tail      Probability
	TailDelay time.Duration
}

func (o *Options) fill() {
	if o.Service == 0 {
		o.Service = time.Microsecond
	}
	o.Service = max(o.Service, 0)
	if o.YieldProbability == 0 {
		o.YieldProbability = Always / 8
	}
	if o.YieldMax == 0 {
		o.YieldMax = 200 * time.Microsecond
	}
	if o.Describe == nil {
		o.Describe = func(m env.Message) string { return fmt.Sprintf("%T", m) }
	}
	if o.Classify == nil {
		o.Classify = func(env.Message) string { return "message" }
	}
	o.Network.fill()
	o.Disk.fill()
}

func (n *Network) fill() {
	if n.Latency == nil {
		n.Latency = defaultLatency
	}
	if n.TailDelay == 0 {
		n.TailDelay = 50 * time.Millisecond
	}
	if n.ChainDelay == 0 {
		n.ChainDelay = 20 * time.Millisecond
	}
	if n.Keepalive == 0 {
		n.Keepalive = 30 * time.Second
	}
}

func defaultLatency(from, to env.NodeID) Latency {
	if from == to {
		return Latency{Base: 5 * time.Microsecond}
	}
	return Latency{Base: 100 * time.Microsecond, Jitter: 400 * time.Microsecond}
}

func (d *DiskTiming) fill() {
	defaults := func(l *Latency, d time.Duration) {
		if *l == (Latency{}) {
			*l = Latency{Base: d, Jitter: d}
		}
	}
	defaults(&d.Append, 10*time.Microsecond)
	defaults(&d.Sync, 100*time.Microsecond)
	defaults(&d.Replace, 150*time.Microsecond)
	defaults(&d.Read, 50*time.Microsecond)
	if d.TailDelay == 0 {
		d.TailDelay = 50 * time.Millisecond
	}
}
