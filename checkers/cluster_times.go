package checkers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// clusterTimes judges reads by cluster time: the answer to a write says when it happened, and that
// to a read of which time it is. Two writes of one key are in the order of their times, whatever
// the shards' clocks say; so is what a session does one after the other.
type clusterTimes struct {
	keyed
	keys map[timedKey]*timeline
	// written are the keys with a timeline, in order, by namespace.
	written map[string][]int64
	// need is the cluster time that each client's next causal read must not be older than.
	need     map[int]uint64
	removals removals
	// begun is a cluster time by which everything was there that was there before the clients.
	begun uint64

	causal, snapshot, reads Verdict
}

type timedKey struct {
	ns  string
	key int64
}

// timeline is every write of one key.
type timeline struct {
	writes []stamped
	by     map[string]int // the write of each identity
	// grows: documents are only pushed to.
	grows bool
}

// stamped is a write that took effect at a cluster time from lo to hi; with maybe, or not at all.
type stamped struct {
	op     int
	effect opkind.Effect
	lo, hi uint64
	maybe  bool
}

// view is what a read says of a key: the state at some time from from to to.
type view struct {
	op       int
	at       timedKey
	from, to uint64
	found    bool
	value    string
	list     []string
}

// stamp puts every write that may have happened on its key's timeline.
func (c *clusterTimes) stamp() {
	for i := range c.ops {
		op := &c.ops[i]
		if op.Outcome == histories.Failed || op.Kind.Of().Reads() {
			continue
		}
		if op.Kind.Whole() {
			c.removals.add(op)
			continue
		}
		if op.Outcome == histories.OK && !op.Result.Applied {
			continue
		}
		t := c.line(timedKey{op.NS, op.Key})
		w := stamped{
			op:     i,
			effect: op.Kind.Of().Effect,
			lo:     op.After + 1,
			hi:     math.MaxUint64,
			maybe:  op.Outcome == histories.Unknown,
		}
		if !w.maybe && op.Time > 0 {
			w.hi = op.Time
		}
		if op.Exact {
			w.lo = op.Time
		}
		if op.Client == histories.PreloadClient {
			c.begun = max(c.begun, op.Time)
		}
		t.grows = t.grows &&
			(op.Kind.Of().Effect == opkind.Append || op.Client == histories.PreloadClient)
		if op.Value != "" {
			t.by[op.Value] = len(t.writes)
		}
		t.writes = append(t.writes, w)
	}
}

// sort lists the keys with a timeline: of no others can a scan be wrong about what is missing.
func (c *clusterTimes) sort() {
	inOrder := func(a, b timedKey) int {
		return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.key, b.key))
	}
	c.written = map[string][]int64{}
	for _, at := range slices.SortedFunc(maps.Keys(c.keys), inOrder) {
		c.written[at.ns] = append(c.written[at.ns], at.key)
	}
}

func (c *clusterTimes) line(at timedKey) *timeline {
	t := c.keys[at]
	if t == nil {
		t = &timeline{by: map[string]int{}, grows: true}
		c.keys[at] = t
	}
	return t
}

// bound uses that a write which somebody saw took effect by then.
func (c *clusterTimes) bound() {
	for i := range c.ops {
		op := &c.ops[i]
		if op.Outcome != histories.OK || op.Time == 0 || op.Concern == "local" ||
			op.Concern == "available" {
			continue
		}
		switch kind := op.Kind.Of(); {
		case kind.Reads():
			see := func(key int64, _ bool, value string, _ []string) {
				c.seen(timedKey{op.NS, key}, value, op.Time)
			}
			linearize.Sightings(op, c.written[op.NS], see)
		default:
			replaced := op.Result.Value
			if kind.Expects() && op.Result.Applied {
				replaced = op.Expect
			}
			if replaced != op.Value {
				c.seen(timedKey{op.NS, op.Key}, replaced, op.Time-1)
			}
		}
	}
}

func (c *clusterTimes) seen(at timedKey, value string, by uint64) {
	t := c.keys[at]
	if t == nil || value == "" {
		return
	}
	if i, known := t.by[value]; known {
		w := &t.writes[i]
		w.hi, w.maybe = min(w.hi, by), false
		if w.hi < w.lo {
			// Seen before the time of its answer: it was executed twice, and the answer is that of
			// the second execution. Whether that may be is for others to judge.
			w.lo = min(w.lo, c.ops[w.op].After+1)
		}
	}
}

// newer finds a write that had replaced, by from, what the read returned, or a push that its list
// lacks.
func (c *clusterTimes) newer(v view) *stamped {
	t := c.keys[v.at]
	if t == nil || !v.found {
		return nil
	}
	seen, written := t.by[v.value]
	for i := range t.writes {
		switch w := &t.writes[i]; {
		case w.maybe || w.hi > v.from:
		case w.effect == opkind.Append && t.grows && !slices.Contains(v.list, c.ops[w.op].Value) &&
			!c.removals.cleared(v.at.ns, c.since(w, v)):
			return w
		case w.effect != opkind.Append && written && w.lo > t.writes[seen].hi &&
			!c.removals.brought(v.at.ns, c.since(w, v)):
			return w
		}
	}
	return nil
}

// future finds what the read returned though it was written after to.
func (c *clusterTimes) future(v view) *stamped {
	t := c.keys[v.at]
	if t == nil || !v.found {
		return nil
	}
	for _, value := range append([]string{v.value}, v.list...) {
		if i, written := t.by[value]; written && t.writes[i].lo > v.to {
			return &t.writes[i]
		}
	}
	return nil
}

// missing finds a write that proves that there was a document by from, when nothing can have
// removed it after that.
func (c *clusterTimes) missing(v view) *stamped {
	t := c.keys[v.at]
	if t == nil || v.found || c.ops[v.op].Lossy {
		return nil
	}
	for i := range t.writes {
		w := &t.writes[i]
		if !w.maybe && w.effect != opkind.Remove && w.hi <= v.from &&
			!c.removed(t, c.since(w, v)) && !c.removals.cleared(v.at.ns, c.since(w, v)) {
			return w
		}
	}
	return nil
}

// since is the span from a write to a read.
func (c *clusterTimes) since(w *stamped, v view) span {
	return span{w.lo, v.to, c.ops[w.op].Call, c.ops[v.op].Return}
}

func (c *clusterTimes) removed(t *timeline, s span) bool {
	for i := range t.writes {
		w := &t.writes[i]
		op := &c.ops[w.op]
		if w.effect == opkind.Remove && s.timed(w.lo, w.hi) && s.between(op.Call, returned(op)) {
			return true
		}
	}
	return false
}

func (c *clusterTimes) stampOf(w *stamped) string {
	if w.lo == w.hi {
		return c.tell(w.op) + " at " + moment(w.lo)
	}
	return fmt.Sprintf("%s between %s and %s", c.tell(w.op), moment(w.lo), moment(w.hi))
}

// contradicts tells of a read and the write against which it speaks. Part of the proof are the
// write of what it found, or, when it found nothing, the deletions that were before or after that.
func (c *clusterTimes) contradicts(signature Signature, v view, why string, w *stamped) Violation {
	broken := c.told(signature, v, why, c.stampOf(w))
	t := c.keys[v.at]
	if written, known := t.by[v.value]; known && v.found {
		broken.Ops = append(broken.Ops, c.ops[t.writes[written].op].ID)
	}
	for i := range t.writes {
		if !v.found && t.writes[i].effect == opkind.Remove {
			broken.Ops = append(broken.Ops, c.ops[t.writes[i].op].ID)
		}
	}
	broken.Ops = append(broken.Ops, c.ops[w.op].ID)
	return broken
}

func (c *clusterTimes) told(signature Signature, v view, because ...string) Violation {
	what := "found no document"
	if v.found {
		what = "found " + v.value
	}
	return about(signature, &c.ops[v.op], v.at, what, because)
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
