package sim

import "iter"

// A coroutine runs the bodies of tasks, one after the other. It switches with the executor in about
// 50 ns and costs ten times that to make: therefore the Pool.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	task  *task
}

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.next, c.stop = iter.Pull(c.loop)
	return c
}

func (c *coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	for {
		c.task.body()
		c.task = nil
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
