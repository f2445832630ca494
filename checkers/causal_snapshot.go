package checkers

import (
	"fmt"

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
		causalBefore:  "the member had not reached what the session had seen",
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
	causalBefore    Signature = "causal-read-before-session"
	snapshotStale   Signature = "snapshot-stale-read"
	snapshotFuture  Signature = "snapshot-future-read"
	snapshotMissing Signature = "snapshot-missing-document"
	snapshotBefore  Signature = "snapshot-before-session"
)

// clusterTimeVerdicts are those of Causal, Snapshots and ReadTimes.
type clusterTimeVerdicts struct{ causal, snapshots, reads Verdict }

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
		keyed: h, need: map[int]uint64{}, removals: removals{},
		causal: Causal.Begin(), snapshot: Snapshots.Begin(), reads: ReadTimes.Begin(),
	}
	if c.wanted() {
		c.lines = timelines{of: map[timedKey]*timeline{}, owners: make([]owner, h.ops.Texts.Len())}
		c.stamp()
		c.lines.sort()
		c.bound()
		for i := range h.ops.Len() {
			c.judge(i)
		}
	}
	return &clusterTimeVerdicts{c.causal, c.snapshot, c.reads}
}

func (c *clusterTimes) wanted() bool {
	for _, f := range c.ops.Forms() {
		if f.Kind.Shape != opkind.Streams && (f.Causal || f.Concern == "snapshot") {
			return true
		}
	}
	for i := range c.ops.Len() {
		if c.ops.Times(i).Since > 0 && c.formOf(i).Concern != "available" {
			return true
		}
	}
	return false
}

// judge looks at an operation if it is a read with a promise, and then adds it to what its session
// knows.
func (c *clusterTimes) judge(i int) {
	op := c.ops.Op(i)
	form := c.ops.Form(op)
	if form.Outcome != histories.OK {
		return
	}
	need := c.need[op.Client]
	reads := form.Kind.Reads()
	switch {
	case form.Concern == "local":
		c.judgeReadTime(i)
		return // may be rolled back
	case form.Concern == "available":
		return
	case reads && form.Concern == "":
		c.judgeReadTime(i)
	case reads && form.Concern == "snapshot":
		c.judgeSnapshot(i, need)
	case reads && form.Concern == "majority":
		c.judgeReadTime(i)
		if form.Causal {
			c.judgeCausal(i, need)
		}
	}
	known := c.ops.Times(i).Time
	if reads {
		c.each(i, 0, 0, func(v view) {
			if w := c.lines.writeOf(v.line, v.Value); w != nil && v.Found {
				known = max(known, w.lo)
			}
		})
	}
	c.need[op.Client] = max(need, known)
}

func (c *clusterTimes) judgeCausal(i int, need uint64) {
	times := c.ops.Times(i)
	c.causal.Checked++
	if times.Since > 0 && times.Since < need {
		c.causal.Add(c.tooEarly(causalBefore, c.ops.Operation(i),
			fmt.Sprintf("it may have seen a state of %s, and the session had seen %s",
				moment(times.Since), moment(need))))
		return
	}
	c.each(i, need, times.Time, c.checkCausal)
}

func (c *clusterTimes) judgeSnapshot(i int, need uint64) {
	time := c.ops.Times(i).Time
	c.snapshot.Checked++
	if c.formOf(i).Causal && time < need {
		c.snapshot.Add(c.tooEarly(snapshotBefore, c.ops.Operation(i),
			fmt.Sprintf("the snapshot is at %s, and the session had seen %s",
				moment(time), moment(need))))
		return
	}
	c.each(i, time, time, c.checkSnapshot)
}

func (c *clusterTimes) each(i int, from, to uint64, check func(view)) {
	op := c.ops.Op(i)
	ns := c.ops.Form(op).NS
	linearize.Sightings(c.ops, op, c.lines.written[ns], func(s linearize.Sighting) {
		check(view{i, ns, c.lines.find(timedKey{ns, s.Key}), from, to, s})
	})
}

func (c *clusterTimes) checkCausal(v view) {
	if newer := c.newer(v); newer != nil {
		c.causal.Add(c.contradicts(causalStale, v, "the session had seen "+moment(v.from), newer))
	}
	if there := c.missing(v); there != nil {
		c.causal.Add(c.contradicts(causalMissing, v, "the session had seen "+moment(v.from), there))
	}
}

func (c *clusterTimes) checkSnapshot(v view) {
	if later := c.future(v); later != nil {
		c.snapshot.Add(c.contradicts(snapshotFuture, v, "the snapshot is at "+moment(v.to), later))
	}
	if newer := c.newer(v); newer != nil {
		c.snapshot.Add(c.contradicts(snapshotStale, v, "the snapshot is at "+moment(v.to), newer))
	}
	if there := c.missing(v); there != nil {
		c.snapshot.Add(c.contradicts(snapshotMissing, v, "the snapshot is at "+moment(v.to), there))
	}
}
