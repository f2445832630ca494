package live

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
)

var _ env.Node = (*node)(nil)

// ID implements env.Node.
func (n *node) ID() env.NodeID { return n.opts.ID }

// Incarnation implements env.Node.
func (n *node) Incarnation() int { return n.incarnation }

// Now implements env.Node: nanoseconds since 1970.
func (n *node) Now() env.Time {
	return env.Time(time.Now().Add(n.opts.ClockOffset).UnixNano())
}

// Mono implements env.Node: the time since this incarnation started.
func (n *node) Mono() env.Time { return env.Time(n.loop.mono()) }

// Disk implements env.Node.
func (n *node) Disk() env.Disk { return n.disk }

// Serve implements env.Node.
func (n *node) Serve(h env.Handler) { n.handler = h }

// Receive implements env.Node.
func (n *node) Receive(r env.Receiver) { n.receiver = r }

// Spawn implements env.Node.
func (n *node) Spawn(scope *env.Scope, name string, fn func(env.Task)) {
	if n.dead {
		return
	}
	if scope == nil {
		scope = &n.scope
	}
	t := &task{node: n, fn: fn, state: ready}
	if scope != &n.scope {
		t.Join(name, scope, t)
	} else {
		t.Place(name, scope)
	}
	n.tasks.add(t)
	n.loop.next(func() { n.resume(t) })
}

// After implements env.Node.
func (n *node) After(d time.Duration, fn func()) env.Timer {
	if n.dead {
		return (*timer)(nil)
	}
	return n.loop.timers.add(n.loop.mono()+d, fn)
}

// resume has a task run until it waits or ends.
func (n *node) resume(t *task) {
	if !n.dead {
		n.switchTo(t)
	}
}

func (n *node) switchTo(t *task) {
	t.state = running
	n.running = t
	n.pool.Run(&t.Task, t)
	n.running = nil
}

// taskList are the tasks that have not ended, in the order in which they were spawned.
type taskList struct{ first, last *task }

func (l *taskList) add(t *task) {
	t.prev = l.last
	if l.last != nil {
		l.last.next = t
	} else {
		l.first = t
	}
	l.last = t
}

func (l *taskList) remove(t *task) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		l.last = t.prev
	}
	t.prev, t.next = nil, nil
}
