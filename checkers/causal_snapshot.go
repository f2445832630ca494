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

// Causal holds reads of a causal session to what the session has written and seen (K-CAUSAL).
var Causal = Checker{
	Name: "causal-reads",
	Promise: "In a causally consistent session, a majority read returns nothing older than " +
		"what the session has written or read before, whichever member answers.",
	Signatures: Meanings{
		causalStale:   "the session had seen a newer value",
		causalMissing: "the session had seen that the document exists",
	},
}

// Snapshots holds snapshot reads to one cluster time (K-SNAP).
var Snapshots = Checker{
	Name: "snapshot-reads",
	Promise: "A snapshot read returns, on all shards, exactly the documents that existed at " +
		"its cluster time.",
	Signatures: Meanings{
		snapshotStale:   "the value had been replaced before the time of the snapshot",
		snapshotFuture:  "the value was written after the time of the snapshot",
		snapshotMissing: "the document existed at the time of the snapshot",
		snapshotBefore:  "the snapshot is older than what the session had seen",
	},
}

// The signatures of their violations.
const (
	causalStale     Signature = "causal-stale-read"
	causalMissing   Signature = "causal-missing-document"
	snapshotStale   Signature = "snapshot-stale-read"
	snapshotFuture  Signature = "snapshot-future-read"
	snapshotMissing Signature = "snapshot-missing-document"
	snapshotBefore  Signature = "snapshot-before-session"
)

// clusterTimes judges reads by cluster time: the answer to a write says when it happened, and that
// to a read of which time it is. Two writes of one key are in the order of their times, whatever the
// shards' clocks say; so is what a session does one after the other.
type clusterTimes struct {
	keyed
	keys map[timedKey]*timeline
	// written are the keys with a timeline, in order, by namespace.
	written map[string][]int64
	// need is the cluster time that each client's next causal read must not be older than.
	need             map[int]uint64
	removals         removals
	causal, snapshot Verdict
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

// clusterTimeVerdicts are those of Causal and Snapshots.
type clusterTimeVerdicts struct{ causal, snapshots Verdict }

var (
	_ = declare(60, &Causal, func(h *history) Verdict { return h.judgeTimes().causal })
	_ = declare(70, &Snapshots, func(h *history) Verdict { return h.judgeTimes().snapshots })
)

func (h *history) judgeTimes() *clusterTimeVerdicts {
	if h.clusterTimes == nil {
		h.clusterTimes = checkClusterTimes(h.keyed)
	}
	return h.clusterTimes
}

func checkClusterTimes(h keyed) *clusterTimeVerdicts {
	c := clusterTimes{
		keyed: h, keys: map[timedKey]*timeline{}, need: map[int]uint64{}, removals: removals{},
		causal: Causal.Begin(), snapshot: Snapshots.Begin(),
	}
	if c.wanted() {
		c.stamp()
		c.sort()
		c.bound()
		for i := range h.ops {
			c.judge(i)
		}
	}
	return &clusterTimeVerdicts{c.causal, c.snapshot}
}

func (c *clusterTimes) wanted() bool {
	for i := range c.ops {
		if op := &c.ops[i]; op.Causal || op.Concern == "snapshot" {
			return true
		}
	}
	return false
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
			linearize.Sightings(op, c.written[op.NS], func(key int64, _ bool, value string, _ []string) {
				c.seen(timedKey{op.NS, key}, value, op.Time)
			})
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
		w.hi = min(w.hi, by)
		if w.hi < w.lo {
			// Seen before the time of its answer: it was executed twice, and the answer is that of
			// the second execution. Whether that may be is for others to judge.
			w.lo = min(w.lo, c.ops[w.op].After+1)
		}
	}
}

// judge looks at an operation if it is a read with a promise, and then adds it to what its session
// knows.
func (c *clusterTimes) judge(i int) {
	op := &c.ops[i]
	if op.Outcome != histories.OK {
		return
	}
	need := c.need[op.Client]
	reads := op.Kind.Of().Reads()
	switch {
	case op.Concern == "local" || op.Concern == "available":
		return // may be rolled back
	case reads && op.Concern == "snapshot":
		c.judgeSnapshot(i, need)
	case reads && op.Causal && op.Concern == "majority":
		c.causal.Checked++
		c.each(i, need, op.Time, c.checkCausal)
	}
	known := op.Time
	if reads {
		c.each(i, 0, 0, func(v view) {
			if t := c.keys[v.at]; t != nil && v.found {
				if w, written := t.by[v.value]; written {
					known = max(known, t.writes[w].lo)
				}
			}
		})
	}
	c.need[op.Client] = max(need, known)
}

func (c *clusterTimes) judgeSnapshot(i int, need uint64) {
	op := &c.ops[i]
	c.snapshot.Checked++
	if op.Causal && op.Time < need {
		c.snapshot.Add(c.told(snapshotBefore, view{op: i, at: timedKey{op.NS, op.Key}, to: op.Time},
			fmt.Sprintf("the snapshot is at %s, and the session had seen %s",
				moment(op.Time), moment(need))))
		return
	}
	c.each(i, op.Time, op.Time, c.checkSnapshot)
}

func (c *clusterTimes) each(i int, from, to uint64, check func(view)) {
	op := &c.ops[i]
	see := func(key int64, found bool, value string, list []string) {
		check(view{i, timedKey{op.NS, key}, from, to, found, value, list})
	}
	linearize.Sightings(op, c.written[op.NS], see)
}

func (c *clusterTimes) checkCausal(v view) {
	if newer, ok := c.newer(v); ok {
		c.causal.Add(c.told(causalStale, v, "the session had seen "+moment(v.from), newer))
	}
	if there, ok := c.missing(v); ok {
		c.causal.Add(c.told(causalMissing, v, "the session had seen "+moment(v.from), there))
	}
}

func (c *clusterTimes) checkSnapshot(v view) {
	if later, ok := c.future(v); ok {
		c.snapshot.Add(c.told(snapshotFuture, v, "the snapshot is at "+moment(v.to), later))
	}
	if newer, ok := c.newer(v); ok {
		c.snapshot.Add(c.told(snapshotStale, v, "the snapshot is at "+moment(v.to), newer))
	}
	if there, ok := c.missing(v); ok {
		c.snapshot.Add(c.told(snapshotMissing, v, "the snapshot is at "+moment(v.to), there))
	}
}

// newer finds a write that had replaced, by from, what the read returned, or a push that its list
// lacks.
func (c *clusterTimes) newer(v view) (why string, found bool) {
	t := c.keys[v.at]
	if t == nil || !v.found {
		return "", false
	}
	seen, written := t.by[v.value]
	for i := range t.writes {
		switch w := &t.writes[i]; {
		case w.maybe || w.hi > v.from:
		case w.effect == opkind.Append && t.grows && !slices.Contains(v.list, c.ops[w.op].Value) &&
			!c.removals.cleared(v.at.ns, w.lo, v.to):
			return c.stampOf(w), true
		case w.effect != opkind.Append && written && w.lo > t.writes[seen].hi &&
			!c.removals.brought(v.at.ns, w.lo, v.to):
			return c.stampOf(w), true
		}
	}
	return "", false
}

// future finds what the read returned though it was written after to.
func (c *clusterTimes) future(v view) (why string, found bool) {
	t := c.keys[v.at]
	if t == nil || !v.found {
		return "", false
	}
	for _, value := range append([]string{v.value}, v.list...) {
		if i, written := t.by[value]; written && t.writes[i].lo > v.to {
			return c.stampOf(&t.writes[i]), true
		}
	}
	return "", false
}

// missing finds a write that proves that there was a document by from, when nothing can have
// removed it after that.
func (c *clusterTimes) missing(v view) (why string, found bool) {
	t := c.keys[v.at]
	if t == nil || v.found || c.ops[v.op].Lossy {
		return "", false
	}
	for i := range t.writes {
		w := &t.writes[i]
		if !w.maybe && w.effect != opkind.Remove && w.hi <= v.from &&
			!t.removed(w.lo, v.to) && !c.removals.cleared(v.at.ns, w.lo, v.to) {
			return c.stampOf(w), true
		}
	}
	return "", false
}

func (t *timeline) removed(from, to uint64) bool {
	for i := range t.writes {
		if w := &t.writes[i]; w.effect == opkind.Remove && w.hi >= from && w.lo <= to {
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

func (c *clusterTimes) told(signature Signature, v view, because ...string) Violation {
	op := &c.ops[v.op]
	what := "found no document"
	if v.found {
		what = "found " + v.value
	}
	return Violation{
		Signature: signature,
		NS:        v.at.ns,
		Key:       fmt.Sprint(v.at.key),
		Ops:       []int{op.ID},
		Broke: fmt.Sprintf("k=%d: operation %d (client %d, %s%s) %s",
			v.at.key, op.ID, op.Client, op.Concern, preferred(op), what),
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
func moment(t uint64) string { return fmt.Sprintf("time %d.%d", t>>20, t&(1<<20-1)) }
