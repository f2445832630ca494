package sim

import "github.com/shardproof/shardproof/system/env"

// The agenda is everything that will happen: events by time, and by the order of scheduling within
// one instant. It is a 4-ary heap of small entries that name a slot; the slots hold what happens,
// so that sifting moves 16 bytes.
type eventQueue struct {
	heap  []queueEntry
	slots []eventSlot
	// pos is each slot's place in the heap, for removal.
	pos  []int32
	free []int32
	seq  uint64
	// ready holds the tasks that run after one service time. As that is constant and time does not
	// go back, the queue is in order by itself and saves the heap most of its work.
	ready queue
}

// A queueEntry's key is the sequence number above the slot's index, so that comparing keys compares
// sequence numbers.
type queueEntry struct {
	at  env.Time
	key uint64
}

const (
	slotBits = 24
	slotMask = 1<<slotBits - 1
	noSlot   = -1
)

func (e queueEntry) before(f queueEntry) bool {
	return e.at < f.at || e.at == f.at && e.key < f.key
}

// An eventSlot is one thing to come. Which field is set says what it is: a task to resume, a packet
// to deliver, a disk whose next operation ends, or a function to run. One with a node is void once
// that incarnation has ended.
type eventSlot struct {
	node   *node
	task   *task
	packet *packet
	disk   *disk
	fn     func()
	gen    uint32
}

func (s *eventSlot) void() bool { return s.node != nil && s.node.dead }

// add schedules s and returns its slot.
func (a *eventQueue) add(at env.Time, s eventSlot) int32 {
	var i int32
	if n := len(a.free); n > 0 {
		i = a.free[n-1]
		a.free = a.free[:n-1]
		s.gen = a.slots[i].gen
		a.slots[i] = s
	} else {
		if len(a.slots) > slotMask {
			panic("more than 16 million occasions are on the agenda")
		}
		i = int32(len(a.slots))
		a.slots = append(a.slots, s)
		a.pos = append(a.pos, 0)
	}
	a.seq++
	a.heap = append(a.heap, queueEntry{})
	a.up(len(a.heap)-1, queueEntry{at, a.seq<<slotBits | uint64(i)})
	return i
}

// remove takes the slot off the agenda.
func (a *eventQueue) remove(i int32) {
	at := int(a.pos[i])
	last := a.heap[len(a.heap)-1]
	a.heap = a.heap[:len(a.heap)-1]
	if at < len(a.heap) {
		if at > 0 && last.before(a.heap[(at-1)/4]) {
			a.up(at, last)
		} else {
			a.down(at, last)
		}
	}
	a.slots[i] = eventSlot{gen: a.slots[i].gen + 1}
	a.free = append(a.free, i)
}

// pop takes the earliest event off the heap.
func (a *eventQueue) pop() eventSlot {
	i := int32(a.heap[0].key & slotMask)
	s := a.slots[i]
	a.remove(i)
	return s
}

func (a *eventQueue) up(i int, e queueEntry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(a.heap[parent]) {
			break
		}
		a.set(i, a.heap[parent])
		i = parent
	}
	a.set(i, e)
}

func (a *eventQueue) down(i int, e queueEntry) {
	n := len(a.heap)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if a.heap[c].before(a.heap[least]) {
				least = c
			}
		}
		if !a.heap[least].before(e) {
			break
		}
		a.set(i, a.heap[least])
		i = least
	}
	a.set(i, e)
}

func (a *eventQueue) set(i int, e queueEntry) {
	a.heap[i] = e
	a.pos[e.key&slotMask] = int32(i)
}

// enqueue adds a task that becomes due at the given time, not before any other task in the queue.
func (a *eventQueue) enqueue(at env.Time, t *task) {
	a.seq++
	a.ready.push(readyTask{at, a.seq, t})
}

// readyTask is a task in the ready queue.
type readyTask struct {
	at   env.Time
	seq  uint64
	task *task
}

// queue is a ring that grows.
type queue struct {
	ring []readyTask
	head int
	n    int
}

func (q *queue) push(d readyTask) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = d
	q.n++
}

func (q *queue) grow() {
	bigger := make([]readyTask, max(16, 2*len(q.ring)))
	for i := range q.n {
		bigger[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
	}
	q.ring, q.head = bigger, 0
}

func (q *queue) first() *readyTask { return &q.ring[q.head] }

func (q *queue) pop() *task {
	t := q.ring[q.head].task
	q.ring[q.head].task = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return t
}
