package sim

import (
	"time"

	"github.com/shardproof/shardproof/system/coroutine"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// taskState is what a task is doing.
type taskState uint8

const (
	taskFresh taskState = iota
	taskRunning
	taskReady
	taskSleeping
	taskParked
	taskCalling
	onDisk
	taskHeld
	taskLate
	taskEnded
)

var stateNames = [...]string{
	taskFresh:    "new",
	taskRunning:  "running",
	taskReady:    "ready",
	taskSleeping: "sleeping",
	taskParked:   "parked",
	taskCalling:  "calling",
	onDisk:       "on disk",
	taskHeld:     "held at a point",
	taskLate:     "woken and not yet running",
	taskEnded:    "ended",
}

// task is a thread of control of one incarnation.
type task struct {
	coroutine.Task
	node *node
	id   uint64
	fn   func(env.Task)
	// request is what a handler's task answers, instead of fn.
	request *packet

	state taskState
	// timer is the slot that ends the present wait, or noSlot.
	timer int32
	// result is what the present wait returns.
	result error
	// latched is set once the task has waited for a latch.
	latched bool

	// calls numbers the calls, to distinguish late replies from the awaited one.
	calls uint64
	// reply is the awaited one, or what was read from the disk.
	reply env.Message
	// site is the one announced last.
	site failpoint.Site
	// What follows is for people. Since is when the present wait began, about the work that the
	// site was announced for, last the call made last, and past the one before.
	since env.Time
	about string
	last  exchange
	past  exchange

	prev, next *task
}

// frozenWorld is what a frozen world has every wait panic with.
type frozenWorld struct{}

var _ env.Task = (*task)(nil)

func (t *task) Node() env.Node { return t.node }

// Spawn starts a task that goes by what this one has written.
func (t *task) Spawn(name string, fn func(env.Task)) {
	term, index := t.Written()
	t.node.Spawn(t.Scope(), name, func(part env.Task) {
		part.Wrote(term, index)
		fn(part)
	})
}

// Run implements coroutine.Body.
func (t *task) Run() {
	defer t.end()
	if t.request != nil {
		t.node.world.serve(t)
		return
	}
	t.fn(t)
}

func (t *task) end() {
	if r := recover(); r != nil { //shardproof:allow recover a task's failures arrive here
		if _, ok := r.(frozenWorld); !ok {
			t.node.world.fail(t, r)
		}
	}
	t.leave()
}

// leave removes the task from its scope and node, and keeps it for reuse: unless a latch may still
// know it, nobody wakes it any more, as the number of the call that a late answer belongs to is
// over.
func (t *task) leave() {
	t.state = taskEnded
	t.Leave()
	t.node.remove(t)
	if w := t.node.world; !t.latched && !w.frozen {
		w.ended = append(w.ended, t)
	}
}

// enter starts a blocking call: it fails when the task is to end.
func (t *task) enter() error {
	w := t.node.world
	if w.frozen {
		panic(frozenWorld{})
	}
	if w.running != t {
		t.node.broken(t.Misplaced())
	}
	if t.node.dead {
		t.vanish()
	}
	if why := t.Spins(); why != "" {
		t.node.broken(why)
	}
	return t.Err()
}

// wait gives control back until the task is woken, and returns what it was woken with. It may have
// been woken already, by control code that saw the task's message.
func (t *task) wait(s taskState) error {
	if t.state != taskReady {
		t.state = s
	}
	t.since = t.node.world.now
	t.Wait()
	if t.node.world.frozen {
		panic(frozenWorld{})
	}
	err := t.result
	t.result = nil
	return err
}

// vanish ends a task whose node has crashed: it stays where it is until the world is closed.
func (t *task) vanish() { _ = t.wait(taskHeld) }

// arm has the present wait end after d of true time.
func (t *task) arm(d time.Duration) {
	w := t.node.world
	t.timer = w.agenda.add(w.now.Add(d), eventSlot{node: t.node, task: t})
}

func (t *task) disarm() {
	if t.timer != noSlot {
		t.node.world.agenda.remove(t.timer)
		t.timer = noSlot
	}
}

// wake ends the present wait with err; the task runs after one service time.
func (t *task) wake(err error) {
	t.disarm()
	t.state, t.result = taskReady, err
	t.node.enqueue(t)
}

// expire is the end of the armed time.
func (t *task) expire() {
	t.timer = noSlot
	switch t.state {
	case taskParked:
		t.result = errcode.New(errcode.ExceededTimeLimit, "task %s waited too long", t.Name())
	case taskCalling:
		t.calls++
		t.result = errcode.New(errcode.NetworkTimeout, "task %s got no reply in time", t.Name())
	}
	t.node.world.resume(t)
}

func (t *task) Sleep(d time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	t.arm(t.node.machine.real(d) + t.node.machine.service())
	return t.wait(taskSleeping)
}

func (t *task) Park(timeout time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	if timeout > 0 {
		t.arm(t.node.machine.real(timeout) + t.node.machine.service())
	}
	return t.wait(taskParked)
}

func (t *task) Unpark() {
	if t.state != taskParked || t.node.inert() {
		return
	}
	if late := t.node.machine.oversleeps(t.site); late > 0 {
		t.disarm()
		t.state = taskLate
		t.arm(late + t.node.machine.service())
		return
	}
	t.wake(nil)
}

func (t *task) Interrupt(err error) {
	if t.node.inert() || !t.Doom(err) {
		return
	}
	switch t.state {
	case taskSleeping, taskParked, taskCalling, onDisk, taskHeld, taskLate:
		t.calls++
		t.wake(err)
	}
}

func (t *task) Call(to env.NodeID, req env.Message, timeout time.Duration) (env.Message, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	t.calls++
	if timeout > 0 {
		t.arm(t.node.machine.real(timeout))
	}
	t.state, t.last, t.past = taskCalling, exchange{with: to}, t.last
	began := t.node.world.now
	term, index := t.Written()
	t.witness(env.Exchange{
		From: t.node.machine.id, To: to, Task: t.id, Request: req, Began: began, Sent: true,
		Wrote: index, WroteIn: term,
	})
	t.node.world.request(t, to, req)
	err := t.wait(taskCalling)
	reply := t.reply
	t.reply = nil
	t.last.at, t.last.answer, t.last.err = t.node.world.now, reply, err
	t.witness(env.Exchange{
		From: t.node.machine.id, To: to, Task: t.id, Request: req, Reply: reply, Err: err,
		Began: began,
	})
	return reply, err
}

func (t *task) Yield(site failpoint.Site) error {
	if err := t.Point(site, env.Note{}); err != nil {
		return err
	}
	d := t.node.machine.deschedule(site)
	if d < 0 {
		return nil
	}
	t.arm(d + t.node.machine.service())
	return t.wait(taskSleeping)
}
