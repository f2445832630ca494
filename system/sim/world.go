package sim

import (
	"fmt"
	"runtime/debug"
	"sort"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// World is one simulated cluster. Its methods are called by the goroutine that runs it: between
// runs, or from control code inside a run (At, OnPoint, an Observer, a Rule). It must be closed.
type World struct {
	opts     Options
	now      env.Time
	agenda   eventQueue
	gate     *Choices
	trace    traceHash
	pool     *Pool
	machines []*machine
	byID     map[env.NodeID]*machine
	network  network
	tasks    uint64
	ended    []*task // to be used again
	hits     []uint64
	reached  map[string]uint64
	passage  PointHit
	exchange env.Exchange // that is being shown
	waking   struct {
		at      SiteOdds
		longest time.Duration
	}
	stall struct {
		at      SiteOdds
		odds    Probability
		longest time.Duration
	}
	failures struct { // of steps at sites
		odds Probability
		at   SiteOdds
	}
	// running is the task in control, nil in inline code.
	running *task
	broken  *BrokenInvariant
	frozen  bool
	driven  bool
}

// New makes a world without nodes.
func New(opts Options) *World {
	opts.fill()
	w := &World{
		opts:    opts,
		byID:    make(map[env.NodeID]*machine),
		pool:    opts.Pool,
		reached: make(map[string]uint64),
	}
	w.trace = traceHash{hash: keyed.Mix(opts.Seed), out: opts.Trace, window: opts.Window}
	w.hits = make([]uint64, failpoint.Count())
	w.gate = newGate(opts.Seed, opts.Planned, opts.Decisions)
	w.gate.onRecord = w.decided
	w.network = newNetwork(w)
	if w.pool == nil {
		w.pool = &Pool{}
	}
	return w
}

// decided makes a step of a fault that chance decided.
func (w *World) decided(d Decision) {
	text := ""
	if w.trace.out != nil {
		text = fmt.Sprintf("%s %s = %d at", d.Kind, d.Site, d.Answer)
	}
	w.note(stepDecision, nil, text, d.Occurrence,
		addToHash(hashString(uint64(d.Answer), d.Site), hashString(0, d.Kind)))
	if w.opts.OnDecision != nil {
		w.opts.OnDecision(d)
	}
}

// Now is true virtual time.
func (w *World) Now() env.Time { return w.now }

// Steps counts everything that has happened.
func (w *World) Steps() uint64 { return w.trace.step }

// Gate is where control code asks its own questions.
func (w *World) Gate() *Choices { return w.gate }

// Decisions are the faults that chance decided so far; with Planned they make the same run again.
func (w *World) Decisions() []Decision { return w.gate.Decisions() }

// PointHits counts the announcements of each site.
func (w *World) PointHits() []uint64 { return append([]uint64(nil), w.hits...) }

// Reached counts how often a Sometimes probe was passed.
func (w *World) Reached(probe string) uint64 { return w.reached[probe] }

// Probes are the Sometimes probes that were passed, by name.
func (w *World) Probes() []string {
	names := make([]string, 0, len(w.reached))
	for probe := range w.reached {
		names = append(names, probe)
	}
	sort.Strings(names)
	return names
}

// Emit records an event of control code, such as a fault.
func (w *World) Emit(e *trace.Event) { w.emit(nil, e) }

// At runs fn once the time has come, as part of the schedule; now, if it is past.
func (w *World) At(at env.Time, fn func()) { w.agenda.add(max(at, w.now), eventSlot{fn: fn}) }

// StopReason is why a run ended.
type StopReason string

// The endings.
const (
	// Stopped: the condition of the run holds.
	Stopped StopReason = "stopped"
	// TimeUp: the next thing to happen is after the limit, which is the time now.
	TimeUp StopReason = "time up"
	// Idle: nothing is left to happen. Tasks that are still parked wait forever.
	Idle StopReason = "idle"
	// Exhausted: the budget of steps is spent.
	Exhausted StopReason = "steps exhausted"
	// Broken: an invariant failed; see Err.
	Broken StopReason = "broken"
)

// Run has the world go on until the condition holds (nil: never) or time passes the limit. The
// condition is tested after every step and must not change anything.
func (w *World) Run(until func() bool, limit env.Time) (why StopReason) {
	if w.driven || w.frozen {
		panic("a world runs once at a time, and not after Close")
	}
	w.driven = true
	defer func() {
		w.driven = false
		if r := recover(); r != nil { //shardproof:allow recover inline code has no root task
			w.fail(nil, r)
			why = Broken
		}
	}()
	return w.drive(until, limit)
}

func (w *World) drive(until func() bool, limit env.Time) StopReason {
	for {
		if w.opts.Between != nil {
			w.opts.Between()
		}
		switch {
		case w.broken != nil:
			return Broken
		case until != nil && until():
			return Stopped
		case w.opts.Steps > 0 && w.trace.step >= w.opts.Steps:
			return Exhausted
		}
		at, fromQueue, ok := w.next()
		if !ok {
			return Idle
		}
		if at > limit {
			w.now = max(w.now, limit)
			return TimeUp
		}
		w.now = max(w.now, at)
		if fromQueue {
			w.resume(w.agenda.ready.pop())
		} else {
			w.happen(w.agenda.pop())
		}
	}
}

// next finds the earliest event, dropping those of ended incarnations.
func (w *World) next() (at env.Time, fromQueue, ok bool) {
	a := &w.agenda
	for a.ready.n > 0 && a.ready.first().task.node.dead {
		a.ready.pop()
	}
	for len(a.heap) > 0 && a.slots[a.heap[0].key&slotMask].void() {
		a.pop()
	}
	if a.ready.n == 0 {
		if len(a.heap) == 0 {
			return 0, false, false
		}
		return a.heap[0].at, false, true
	}
	head := a.ready.first()
	if len(a.heap) == 0 {
		return head.at, true, true
	}
	top := a.heap[0]
	if head.at < top.at || head.at == top.at && head.seq < top.key>>slotBits {
		return head.at, true, true
	}
	return top.at, false, true
}

func (w *World) happen(s eventSlot) {
	switch {
	case s.task != nil:
		s.task.expire()
	case s.packet != nil:
		w.deliver(s.packet)
	case s.disk != nil:
		s.disk.serve()
	case s.node != nil:
		w.note(stepTimer, s.node.machine, "timer", 0, 0)
		s.fn()
	default:
		w.note(stepControl, nil, "code", 0, 0)
		s.fn()
	}
}

// BrokenInvariant is the end of a run: an assertion failed or code panicked.
type BrokenInvariant struct {
	Step    uint64
	At      env.Time
	Node    env.NodeID
	Task    string
	Message string
	// Stack is for people; it is not the same in every process.
	Stack string
}

// Error says what broke, where and when.
func (b *BrokenInvariant) Error() string {
	where := "control code"
	if b.Node != "" {
		where = fmt.Sprintf("%s (%s)", b.Node, b.Task)
	}
	return fmt.Sprintf("broken invariant in %s at step %d, %s: %s",
		where, b.Step, time.Duration(b.At), b.Message)
}

// failedAssertion is what Assert panics with, to distinguish it from a mistake of Go code.
type failedAssertion struct {
	node    *node
	message string
}

// Err is the *BrokenInvariant that ended the run, or nil.
func (w *World) Err() error {
	if w.broken == nil {
		return nil
	}
	return w.broken
}

// fail notes the first broken invariant; the world goes no further.
func (w *World) fail(t *task, r any) {
	if w.broken != nil || w.frozen {
		return
	}
	b := &BrokenInvariant{
		Step:    w.trace.step,
		At:      w.now,
		Task:    "inline",
		Message: fmt.Sprint(r),
		Stack:   string(debug.Stack()),
	}
	if m := w.trace.last; m != nil {
		b.Node = m.id
	}
	if a, ok := r.(failedAssertion); ok {
		b.Node, b.Message = a.node.ID(), a.message
	}
	if t != nil {
		b.Node, b.Task = t.node.ID(), t.Name()
	}
	w.broken = b
}

// Close unwinds every task, against a frozen world in which nothing has an effect any more, and
// frees the coroutines.
func (w *World) Close() {
	if w.frozen {
		return
	}
	w.frozen = true
	for _, m := range w.machines {
		for _, n := range m.lives {
			for n.first != nil {
				w.unwind(n.first)
			}
		}
	}
	if w.opts.Pool == nil {
		w.pool.Close()
	}
}

func (w *World) unwind(t *task) {
	if !t.Started() {
		t.leave()
		return
	}
	w.switchTo(t)
}
