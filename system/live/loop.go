package live

import (
	"sync"
	"time"
)

// loop is the one goroutine on which everything of a node happens. Others hand it work by post;
// all its other state is its own.
type loop struct {
	mu     sync.Mutex
	inbox  []func()
	closed bool
	wake   chan struct{} // holds one token at most

	spare  []func() // the array of the inbox before, to be used again
	ready  []func() // what runs next, in order
	timers timerHeap
	began  time.Time
	over   bool
}

func newLoop() *loop { return &loop{wake: make(chan struct{}, 1), began: time.Now()} }

// post has fn run on the loop, after everything posted before. It may be called from any goroutine;
// false means that the loop has ended and fn will not run.
func (l *loop) post(fn func()) bool {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	l.inbox = append(l.inbox, fn)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is awake already
	}
	return true
}

// next has fn run on the loop, before anything that is posted from now on. Only the loop calls it.
func (l *loop) next(fn func()) { l.ready = append(l.ready, fn) }

// mono is the time since the loop was made, by a clock that never goes back.
func (l *loop) mono() time.Duration { return time.Since(l.began) }

// run goes on until over is set by something that runs on the loop.
func (l *loop) run() {
	defer l.close()
	for !l.over {
		l.collect()
		l.timers.fire(l.mono())
		if !l.turn() {
			l.sleep()
		}
	}
}

func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.inbox = true, nil
}

// turn runs what is ready now; what becomes ready meanwhile waits for the next turn, so that
// timers and messages have theirs. It reports whether there was anything.
func (l *loop) turn() bool {
	batch := l.ready
	l.ready = l.spare[:0]
	for _, fn := range batch {
		if l.over {
			break
		}
		fn()
	}
	clear(batch)
	l.spare = batch
	return len(batch) > 0
}

// collect moves what was posted to what is ready.
func (l *loop) collect() {
	l.mu.Lock()
	l.ready = append(l.ready, l.inbox...)
	clear(l.inbox)
	l.inbox = l.inbox[:0]
	l.mu.Unlock()
}

// sleep waits until something is posted or the first timer is due.
func (l *loop) sleep() {
	if l.over || len(l.ready) > 0 {
		return
	}
	due, some := l.timers.first()
	if !some {
		<-l.wake
		return
	}
	left := due - l.mono()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-l.wake:
	case <-timer.C:
	}
}
