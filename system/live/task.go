package live

import (
	"time"

	"github.com/shardproof/shardproof/system/coroutine"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// state is what a task is doing.
type state uint8

const (
	ready state = iota + 1
	running
	sleeping
	parked
	calling
	onDisk
	held // at a failpoint site
	ended
)

// task is a thread of control of the node. All of it belongs to the loop.
type task struct {
	coroutine.Task
	node *node
	fn   func(env.Task)

	state state
	timer *timer
	// waits numbers the waits, so that what ends one late does not end the next.
	waits uint64
	// result is what the present wait returns, answer what a call or a reading brought besides.
	result error
	answer any

	prev, next *task
}

var _ env.Task = (*task)(nil)

// stoppedNode is what waits panic with once the node has stopped.
type stoppedNode struct{}

// Node implements env.Task.
func (t *task) Node() env.Node { return t.node }

// Spawn implements env.Task.
func (t *task) Spawn(name string, fn func(env.Task)) { t.node.Spawn(t.Scope(), name, fn) }

// Run implements coroutine.Body.
func (t *task) Run() {
	defer t.end()
	t.fn(t)
}

func (t *task) end() {
	if r := recover(); r != nil {
		if _, stopped := r.(stoppedNode); !stopped {
			t.node.broke(t.Name(), r)
		}
	}
	t.leave()
}

func (t *task) leave() {
	t.disarm()
	t.state = ended
	t.Leave()
	t.node.tasks.remove(t)
}

// enter starts a wait: it fails when the task is to end.
func (t *task) enter() error {
	if t.node.dead {
		panic(stoppedNode{})
	}
	if t.node.running != t {
		t.node.fail(t.Misplaced())
	}
	if why := t.Spins(); why != "" {
		t.node.fail(why)
	}
	return t.Err()
}

// wait gives control back until the task is woken, and returns what it was woken with.
func (t *task) wait(s state) error {
	t.state = s
	t.Wait()
	if t.node.dead {
		panic(stoppedNode{})
	}
	err := t.result
	t.result = nil
	return err
}

// arm has the present wait end after d, with err.
func (t *task) arm(d time.Duration, err func() error) {
	n := t.node
	t.timer = n.loop.timers.add(n.loop.mono()+d, func() {
		t.timer = nil
		t.wake(err())
	})
}

func (t *task) disarm() {
	t.timer.Stop()
	t.timer = nil
}

// wake ends the present wait with err; the task runs in the loop's next turn.
func (t *task) wake(err error) {
	t.disarm()
	t.waits++
	t.state, t.result = ready, err
	t.node.loop.next(func() { t.node.resume(t) })
}

// waitsFor reports whether the task still waits for what it waited for then.
func (t *task) waitsFor(s state, then uint64) bool {
	return t.state == s && t.waits == then && !t.node.dead
}

func nothing() error { return nil }

// Sleep implements env.Task.
func (t *task) Sleep(d time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	t.arm(d, nothing)
	return t.wait(sleeping)
}

// Yield implements env.Task: everything that is ready runs first.
func (t *task) Yield(site failpoint.Site) error {
	if err := t.Point(site, env.Note{}); err != nil {
		return err
	}
	t.node.loop.next(func() { t.node.resume(t) })
	if err := t.wait(ready); err != nil {
		return err
	}
	return t.Err()
}

// Park implements env.Task.
func (t *task) Park(timeout time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	if timeout > 0 {
		t.arm(timeout, func() error {
			return errcode.New(errcode.ExceededTimeLimit, "task %s waited too long", t.Name())
		})
	}
	return t.wait(parked)
}

// Unpark implements env.Task.
func (t *task) Unpark() {
	if t.state == parked && !t.node.dead {
		t.wake(nil)
	}
}

// Interrupt implements env.Task.
func (t *task) Interrupt(err error) {
	if t.node.dead || !t.Doom(err) {
		return
	}
	switch t.state {
	case sleeping, parked, calling, onDisk, held:
		t.wake(err)
	}
}
