package checkers

import (
	"fmt"
	"math"
	"slices"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// clusterTimes judges reads by cluster time: the answer to a write says when it happened, and that
// to a read of which time it is. Two writes of one key are in the order of their times, whatever
// the shards' clocks say; so is what a session does one after the other.
type clusterTimes struct {
	keyed
	lines timelines
	// need is the cluster time that each client's next causal read must not be older than.
	need     map[int]uint64
	removals removals

	causal, snapshot, reads Verdict
}

// view is what a read says of a key: the state at some time from from to to. Without a timeline,
// nothing can be said against it.
type view struct {
	op       int
	ns       string
	line     *timeline
	from, to uint64
	linearize.Sighting
}

// stamp puts every write that may have happened on its key's timeline.
func (c *clusterTimes) stamp() {
	for i := range c.ops.Len() {
		op := c.ops.Op(i)
		form := c.ops.Form(op)
		if form.Outcome == histories.Failed || form.Kind.Reads() {
			continue
		}
		if form.Kind.Shape == opkind.Whole {
			c.removals.add(c.ops.Operation(i))
			continue
		}
		if form.Outcome == histories.OK && !op.Applied {
			continue
		}
		times := c.ops.Times(i)
		preloaded := op.Client == histories.PreloadClient
		t := c.lines.make(timedKey{form.NS, op.Key})
		if preloaded {
			t.begun = times.Time
		}
		t.grows = t.grows && (form.Kind.Effect == opkind.Append || preloaded)
		c.lines.write(t, op.Value, stampedBy(i, form, times))
	}
}

// stampedBy is the write of the operation at position i.
func stampedBy(i int, form *compact.Form, times compact.Times) stamped {
	w := stamped{
		op:     int32(i),
		effect: form.Kind.Effect,
		lo:     times.After + 1,
		hi:     math.MaxUint64,
		maybe:  form.Outcome == histories.Unknown,
	}
	if !w.maybe && times.Time > 0 {
		w.hi = times.Time
	}
	if form.Exact {
		w.lo = times.Time
	}
	return w
}

// bound uses that a write which somebody saw took effect by then.
func (c *clusterTimes) bound() {
	for i := range c.ops.Len() {
		op := c.ops.Op(i)
		form, time := c.ops.Form(op), c.ops.Times(i).Time
		if form.Outcome != histories.OK || time == 0 || form.Concern == "local" ||
			form.Concern == "available" {
			continue
		}
		if form.Kind.Reads() {
			c.each(i, 0, 0, func(v view) { c.seen(v.line, v.Value, time) })
			continue
		}
		replaced := op.Saw
		if form.Kind.Expects() && op.Applied {
			replaced = op.Expect
		}
		if replaced != op.Value {
			c.seen(c.lines.find(timedKey{form.NS, op.Key}), replaced, time-1)
		}
	}
}

func (c *clusterTimes) seen(t *timeline, value compact.Text, by uint64) {
	if w := c.lines.writeOf(t, value); w != nil && value != 0 {
		w.hi, w.maybe = min(w.hi, by), false
		if w.hi < w.lo {
			// Seen before the time of its answer: it was executed twice, and the answer is that of
			// the second execution. Whether that may be is for others to judge.
			w.lo = min(w.lo, c.ops.Times(int(w.op)).After+1)
		}
	}
}

// newer finds a write that had replaced, by from, what the read returned, or a push that its list
// lacks.
func (c *clusterTimes) newer(v view) *stamped {
	t := v.line
	if t == nil || !v.Found {
		return nil
	}
	seen := c.lines.writeOf(t, v.Value)
	if !t.grows && (seen == nil || t.past(c.ops, v.from).lo <= seen.hi) {
		return nil
	}
	for i := range t.writes {
		switch w := &t.writes[i]; {
		case w.maybe || w.hi > v.from:
		case w.effect == opkind.Append && t.grows &&
			!slices.Contains(v.List, c.ops.Op(int(w.op)).Value) &&
			!c.removals.cleared(v.ns, c.since(w, v)):
			return w
		case w.effect != opkind.Append && seen != nil && w.lo > seen.hi &&
			!c.removals.brought(v.ns, c.since(w, v)):
			return w
		}
	}
	return nil
}

// future finds what the read returned though it was written after to.
func (c *clusterTimes) future(v view) *stamped {
	if v.line == nil || !v.Found {
		return nil
	}
	for _, value := range append([]compact.Text{v.Value}, v.List...) {
		if w := c.lines.writeOf(v.line, value); w != nil && w.lo > v.to {
			return w
		}
	}
	return nil
}

// missing finds a write that proves that there was a document by from, when nothing can have
// removed it after that.
func (c *clusterTimes) missing(v view) *stamped {
	t := v.line
	if t == nil || v.Found || c.formOf(v.op).Lossy || c.allRemoved(v) {
		return nil
	}
	for i := range t.writes {
		w := &t.writes[i]
		if !w.maybe && w.effect != opkind.Remove && w.hi <= v.from &&
			!c.removed(t, c.since(w, v)) && !c.removals.cleared(v.ns, c.since(w, v)) {
			return w
		}
	}
	return nil
}

// allRemoved looks for one removal that may lie between each write by from and the read. There
// mostly is: the last one before the read.
func (c *clusterTimes) allRemoved(v view) bool {
	past := v.line.past(c.ops, v.from)
	if past.none {
		return true
	}
	s := span{past.lo, v.to, past.call, c.ops.Op(v.op).Return}
	removals := v.line.removalsBefore(c.ops, s.returned)
	for i := len(removals) - 1; i >= 0; i-- {
		w := &v.line.writes[removals[i]]
		call, returned := c.lasted(w)
		if s.timed(w.lo, w.hi) && s.between(call, returned) {
			return true
		}
	}
	return false
}

func (c *clusterTimes) formOf(op int) *compact.Form { return c.ops.Form(c.ops.Op(op)) }

// since is the span from a write to a read.
func (c *clusterTimes) since(w *stamped, v view) span {
	return span{w.lo, v.to, c.ops.Op(int(w.op)).Call, c.ops.Op(v.op).Return}
}

func (c *clusterTimes) removed(t *timeline, s span) bool {
	for i := range t.writes {
		w := &t.writes[i]
		if w.effect != opkind.Remove {
			continue
		}
		if call, returned := c.lasted(w); s.timed(w.lo, w.hi) && s.between(call, returned) {
			return true
		}
	}
	return false
}

// lasted is between which events a write took effect.
func (c *clusterTimes) lasted(w *stamped) (call, returned uint64) {
	op := c.ops.Op(int(w.op))
	return op.Call, returnedBy(c.ops.Form(op).Outcome, op.Return)
}

func (c *clusterTimes) stampOf(w *stamped) string {
	if w.lo == w.hi {
		return c.tell(int(w.op)) + " at " + moment(w.lo)
	}
	return fmt.Sprintf("%s between %s and %s", c.tell(int(w.op)), moment(w.lo), moment(w.hi))
}

// contradicts tells of a read and the write against which it speaks. Part of the proof are the
// write of what it found, or, when it found nothing, the deletions that were before or after that.
func (c *clusterTimes) contradicts(signature Signature, v view, why string, w *stamped) Violation {
	broken := c.told(signature, v, why, c.stampOf(w))
	add := func(w *stamped) { broken.Ops = append(broken.Ops, c.ops.Op(int(w.op)).ID) }
	if written := c.lines.writeOf(v.line, v.Value); written != nil && v.Found {
		add(written)
	}
	for i := range v.line.writes {
		if w := &v.line.writes[i]; !v.Found && w.effect == opkind.Remove {
			add(w)
		}
	}
	add(w)
	return broken
}

func (c *clusterTimes) told(signature Signature, v view, because ...string) Violation {
	what := "found no document"
	if v.Found {
		what = "found " + c.ops.Texts.Text(v.Value)
	}
	return about(signature, c.ops.Operation(v.op), timedKey{v.ns, v.Key}, what, because)
}

// tooEarly tells of a read that goes by an older state than its session has seen, whatever it
// found.
func (c *clusterTimes) tooEarly(signature Signature, op *histories.Op, because string) Violation {
	return about(signature, op, timedKey{op.NS, op.Key},
		"goes by an older state than its session has seen", []string{because})
}

func about(
	signature Signature, op *histories.Op, at timedKey, what string, because []string,
) Violation {
	return Violation{
		Signature: signature,
		NS:        at.ns,
		Key:       fmt.Sprint(at.key),
		Ops:       []int{op.ID},
		Broke: fmt.Sprintf("k=%d: operation %d (client %d, %s%s) %s",
			at.key, op.ID, op.Client, op.Concern, preferred(op), what),
		Because: because,
	}
}

func preferred(op *histories.Op) string {
	if op.Prefer == "" {
		return ""
	}
	return " on a " + op.Prefer
}

// moment prints a cluster time as milliseconds and a count within them.
func moment(t uint64) string { return "time " + histories.ClusterTime(t) }
