// Package parallel does many things on several cores as if one after the other: the worlds of a
// search run side by side, and what the search learns from them does not depend on how many there
// are.
//
// Promise: results are taken in the order of their numbers, one at a time, up to the first after
// which no more are wanted; what was worked out ahead of that is thrown away.
//
// Refusal: it shares nothing between pieces of work, and bounds neither their time nor their
// memory.
package parallel

import "sync"

// aheadEach is how many things a worker may be ahead of the one that is taken next.
const aheadEach = 4

// Do has the workers work on the numbers from 0 to n-1 and hands each result to take, until take
// wants no more or stop is true. It returns how many were taken. Worker counts from 0; stop may be
// nil.
func Do[R any](
	workers, n int, stop func() bool, work func(worker, i int) R, take func(i int, r R) (more bool),
) int {
	q := &queue[R]{
		n:      n,
		window: aheadEach * max(workers, 1),
		done:   make(map[int]R),
		take:   take,
		stop:   stop,
	}
	q.moved.L = &q.mu
	var all sync.WaitGroup
	for worker := range max(min(workers, n), 1) {
		all.Go(func() {
			for i, ok := q.next(); ok; i, ok = q.next() {
				q.finish(i, work(worker, i))
			}
		})
	}
	all.Wait()
	return q.taken
}

// queue knows what is being worked on. Everything below taken is over.
type queue[R any] struct {
	n, window int
	take      func(int, R) bool
	stop      func() bool

	mu      sync.Mutex
	moved   sync.Cond
	given   int
	taken   int
	stopped bool
	done    map[int]R
}

// next is the next number to work on.
func (q *queue[R]) next() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && q.given < q.n && q.given >= q.taken+q.window {
		q.moved.Wait()
	}
	if q.stop != nil && q.stop() {
		q.stopped = true
	}
	if q.stopped || q.given >= q.n {
		return 0, false
	}
	q.given++
	return q.given - 1, true
}

// finish takes over a result, and hands on whatever is next in the order.
func (q *queue[R]) finish(i int, r R) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done[i] = r
	for !q.stopped {
		r, ok := q.done[q.taken]
		if !ok {
			break
		}
		delete(q.done, q.taken)
		q.taken++
		q.stopped = !q.take(q.taken-1, r)
	}
	q.moved.Broadcast()
}
