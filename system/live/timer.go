package live

import (
	"container/heap"
	"time"
)

// timer is something that happens on a loop at a time of its own. Those of one time happen in the
// order in which they were made.
type timer struct {
	heap *timerHeap
	due  time.Duration
	made uint64
	at   int // its place in the heap, -1 when it is not in it
	fn   func()
}

// Stop implements env.Timer.
func (t *timer) Stop() {
	if t != nil && t.at >= 0 {
		heap.Remove(t.heap, t.at)
	}
}

// timerHeap orders timers by when they are due. The zero timerHeap is empty and ready.
type timerHeap struct {
	all  []*timer
	made uint64
}

func (h *timerHeap) add(due time.Duration, fn func()) *timer {
	h.made++
	t := &timer{heap: h, due: due, made: h.made, fn: fn}
	heap.Push(h, t)
	return t
}

// first is when the next timer is due; false when there is none.
func (h *timerHeap) first() (due time.Duration, some bool) {
	if len(h.all) == 0 {
		return 0, false
	}
	return h.all[0].due, true
}

// fire runs every timer that is due now. One that is made meanwhile waits for the next time.
func (h *timerHeap) fire(now time.Duration) {
	for made := h.made; len(h.all) > 0 && h.all[0].due <= now && h.all[0].made <= made; {
		heap.Pop(h).(*timer).fn()
	}
}

// Len, Less, Swap, Push and Pop implement heap.Interface.

func (h *timerHeap) Len() int { return len(h.all) }

func (h *timerHeap) Less(i, j int) bool {
	a, b := h.all[i], h.all[j]
	return a.due < b.due || a.due == b.due && a.made < b.made
}

func (h *timerHeap) Swap(i, j int) {
	h.all[i], h.all[j] = h.all[j], h.all[i]
	h.all[i].at, h.all[j].at = i, j
}

// Push adds a timer at the end.
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.at = len(h.all)
	h.all = append(h.all, t)
}

// Pop removes the last timer.
func (h *timerHeap) Pop() any {
	last := len(h.all) - 1
	t := h.all[last]
	h.all[last] = nil
	h.all = h.all[:last]
	t.at = -1
	return t
}
