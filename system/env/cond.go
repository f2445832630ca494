package env

import (
	"slices"
	"time"
)

// Cond is a queue of waiting tasks of one node. As nothing runs between a caller's test and its
// Wait, there is no lost wake-up. The zero Cond is ready. It must not be copied once used.
type Cond struct {
	waiting []Task
	one     [1]Task // where waiting begins: most queues never hold more
}

// Wait parks the task until Signal or Broadcast reaches it, for at most timeout (zero or less: no
// limit), then with errcode.ExceededTimeLimit. A woken caller tests its condition again.
func (c *Cond) Wait(t Task, timeout time.Duration) error {
	if err := t.Err(); err != nil {
		return err
	}
	if c.waiting == nil {
		c.waiting = c.one[:0]
	}
	c.waiting = append(c.waiting, t)
	err := t.Park(timeout)
	if err != nil && !c.remove(t) {
		c.Signal() // it was for a task that had already been interrupted, and belongs to the next
	}
	return err
}

// WaitFor waits until ready returns true. A task that was interrupted between being woken and
// running gets the error and not what it has waited for: nobody would give that back.
func (c *Cond) WaitFor(t Task, timeout time.Duration, ready func() bool) error {
	until := t.Node().Mono().Add(timeout)
	for !ready() {
		left := time.Duration(0)
		if timeout > 0 {
			if left = until.Sub(t.Node().Mono()); left <= 0 {
				left = 1
			}
		}
		err, doomed := c.Wait(t, left), t.Err()
		if doomed != nil && err == nil {
			c.Signal() // it belongs to the next
			err = doomed
		}
		if err != nil && (doomed != nil || !ready()) {
			return err
		}
	}
	return nil
}

// Signal wakes the task that has waited longest.
func (c *Cond) Signal() {
	if len(c.waiting) == 0 {
		return
	}
	t := c.waiting[0]
	c.waiting = slices.Delete(c.waiting, 0, 1)
	t.Unpark()
}

// Broadcast wakes every waiting task, in the order of their arrival.
func (c *Cond) Broadcast() {
	for _, t := range c.waiting {
		t.Unpark()
	}
	clear(c.waiting)
	c.waiting = c.waiting[:0]
}

func (c *Cond) remove(t Task) (found bool) {
	for i, w := range c.waiting {
		if w == t {
			c.waiting = slices.Delete(c.waiting, i, i+1)
			return true
		}
	}
	return false
}
