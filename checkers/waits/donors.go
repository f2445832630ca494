package waits

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// donor is a migration from a node, as it began by the node's own clock.
type donor struct {
	migration string
	began     time.Duration
	asked     int64
	// ns, min and max are known once changes are captured.
	ns, min, max string
	capturing    bool
	// left are the changes that no answer can have handed over; pulling counts the requests for
	// changes that are being answered.
	left    []change
	pulling int
	newest  uint64 // the entry of the newest change
	// given is set once a document of the clone has been handed over.
	given bool
	// locking is when the task that is to block writes was held up before it got the lock.
	locking time.Duration
	held    bool
}

// change is what a client has changed in the range that moves.
type change struct {
	index   uint64
	id      int64 // bytes
	deletes bool
}

// smallest is how many bytes a document has at least: a head, and a number by the name of _id.
const smallest = 14

func (j *Judge) followDonor(e *trace.Event) {
	d := j.donors[e.Node]
	if d == nil || d.migration != e.Migration() {
		return
	}
	switch e.DonorState() {
	case trace.DonorCloning:
		d.ns, d.min, d.max, d.capturing = e.NS, e.Min, e.Max, true
	case trace.DonorCloneCaughtUp:
		if !j.forced[e.NS] {
			j.verdict.Checked++
			j.judgeCatchUp(e, d)
			j.judgeLeft(e, d)
		}
	case trace.DonorCriticalSection:
		d.capturing = false
		j.judgeLock(e, d)
	}
	if e.DonorState().Terminal() {
		delete(j.donors, e.Node)
	}
}

// judgeCatchUp: the donor asks whether it took too long right before it goes on (protocol 5.1 S4).
func (j *Judge) judgeCatchUp(e *trace.Event, d *donor) {
	took, most := j.clock(e.Node)-d.began, j.limits().CatchUp
	if took <= most {
		return
	}
	j.broken(caughtUpLate, e.NS,
		fmt.Sprintf("the donor %s goes on with migration %s, for which it was asked at %v",
			e.Node, d.migration, time.Duration(d.asked)),
		fmt.Sprintf("by the donor's clock, clone and catch-up took %v, and the limit is %v",
			took, most))
}

// followLock notes that a task is held up that has just begun to wait for the lock.
func (j *Judge) followLock(e *trace.Event) {
	d := j.donors[e.Node]
	if d != nil && d.migration == e.Migration() && e.Site() == "donor.lockAcquire" && !d.held {
		d.locking, d.held = j.clock(e.Node), true
	}
}

// judgeLock: a donor that could not block writes in time gives the migration up.
func (j *Judge) judgeLock(e *trace.Event, d *donor) {
	took, most := j.clock(e.Node)-d.locking, j.limits().Lock
	if !d.held || took <= most {
		return
	}
	j.broken(lockedLate, e.NS,
		fmt.Sprintf("the donor %s blocks writes for migration %s", e.Node, d.migration),
		fmt.Sprintf("by its own clock it has waited for the lock for at least %v, and may wait %v",
			took, most))
}

// followWrite notes a change that the donor has to hand over. An entry that changes several
// documents makes room for one of them, of which alone the donor is told: it counts for nothing.
func (j *Judge) followWrite(e *trace.Event) {
	d := j.donors[e.Node]
	if d == nil || !d.capturing || e.NS != d.ns {
		return
	}
	if e.Index == d.newest {
		if n := len(d.left); n > 0 && d.left[n-1].index == e.Index {
			d.left = d.left[:n-1]
		}
		return
	}
	d.newest = e.Index
	if e.Actor == trace.User && d.min <= e.Key && (d.max == "" || e.Key < d.max) {
		d.left = append(d.left, change{e.Index, int64(len(e.DocID)), e.Hash == 0})
	}
}

// Pulled is called when a node is asked for what has changed since the clone; the result is to be
// called when it has answered.
func (j *Judge) Pulled(node string) (answered func()) {
	d := j.donors[node]
	if d == nil {
		return func() {}
	}
	d.pulling++
	return func() {
		d.pulling--
		d.left = nil
	}
}

// Gave notes that a node has handed over a document of a clone.
func (j *Judge) Gave(node string) {
	if d := j.donors[node]; d != nil {
		d.given = true
	}
}

// Requested notes what a node is asked to move: a collection's chunks of up to so many bytes, 0
// when the setting counts, and whether however big they are.
func (j *Judge) Requested(ns string, bytes int64, forced bool) {
	j.largest = max(j.largest, bytes)
	if forced {
		j.forced[ns] = true
	}
}

// judgeLeft: a donor goes on to block writes when it has nothing to hand over any more, or little
// enough (protocol 6.5), and has no more in memory than it may. What is counted is less than what
// there is.
func (j *Judge) judgeLeft(e *trace.Event, d *donor) {
	if d.pulling > 0 || len(d.left) == 0 {
		return
	}
	var ids, estimate int64
	for _, c := range d.left {
		ids += c.id
		switch {
		case c.deletes:
			estimate += c.id
		case d.given:
			estimate += smallest
		}
	}
	l := j.limits()
	allowed := max(l.Chunk, j.largest) * l.Percent / 100
	broke := fmt.Sprintf("the donor %s is about to block writes for migration %s", e.Node,
		d.migration)
	changes := fmt.Sprintf("clients have changed its range %d times since the donor last sent "+
		"changes", len(d.left))
	if ids > l.Captured {
		j.broken(leftMuch, e.NS, broke, changes,
			fmt.Sprintf("the captured changes take %d bytes, and the limit is %d", ids, l.Captured))
	}
	if l.LeavesChanges && estimate >= allowed {
		j.broken(leftMuch, e.NS, broke, changes,
			fmt.Sprintf("these changes have at least %d bytes, and must have fewer than %d, %d%% of a chunk",
				estimate, allowed, l.Percent))
	}
}
