// Package coroutine has tasks take turns on one goroutine, for worlds that run a node's code.
//
// Promise: a task runs alone until it waits, and goes on where it waited; what holds for every wait
// of a task, in any world, is ensured here.
//
// Refusal: it decides nothing: not which task runs next, not when a wait ends, not what an error
// means.
package coroutine

import "iter"

// Body is what a task does from its start to its end.
type Body interface{ Run() }

// A coroutine runs bodies, one after the other. To switch to it costs the caller about 50 ns, and
// to make one ten times that: therefore the Pool.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	body  Body
}

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.next, c.stop = iter.Pull(c.loop)
	return c
}

func (c *coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	for {
		c.body.Run()
		c.body = nil
		if !yield(struct{}{}) {
			return
		}
	}
}

// Pool keeps idle coroutines. It serves one world at a time; the zero Pool is ready. Close it to
// free them.
type Pool struct{ idle []*coroutine }

// poolLimit bounds the stacks that an idle pool holds on to.
const poolLimit = 4096

// Run has a task run its body until it waits or ends.
func (p *Pool) Run(t *Task, body Body) {
	c := t.co
	if c == nil {
		c = p.take()
		c.body, t.co = body, c
	}
	c.next()
	if c.body == nil {
		p.give(c)
	}
}

func (p *Pool) take() *coroutine {
	n := len(p.idle)
	if n == 0 {
		return newCoroutine()
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

func (p *Pool) give(c *coroutine) {
	if len(p.idle) >= poolLimit {
		c.stop()
		return
	}
	p.idle = append(p.idle, c)
}

// Len is the number of idle coroutines.
func (p *Pool) Len() int { return len(p.idle) }

// Close ends the idle coroutines. The Pool can be used again.
func (p *Pool) Close() {
	for _, c := range p.idle {
		c.stop()
	}
	p.idle = nil
}
