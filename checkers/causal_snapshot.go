package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/histories"
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
		keyed: h, keys: map[timedKey]*timeline{}, need: map[int]uint64{}, removals: removals{},
		causal: Causal.Begin(), snapshot: Snapshots.Begin(), reads: ReadTimes.Begin(),
	}
	if c.wanted() {
		c.stamp()
		c.sort()
		c.bound()
		for i := range h.ops {
			c.judge(i)
		}
	}
	return &clusterTimeVerdicts{c.causal, c.snapshot, c.reads}
}

func (c *clusterTimes) wanted() bool {
	for i := range c.ops {
		if op := &c.ops[i]; op.Causal || op.Concern == "snapshot" ||
			op.Since > 0 && op.Concern != "available" {
			return true
		}
	}
	return false
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
	case op.Concern == "local":
		c.judgeReadTime(i)
		return // may be rolled back
	case op.Concern == "available":
		return
	case reads && op.Concern == "":
		c.judgeReadTime(i)
	case reads && op.Concern == "snapshot":
		c.judgeSnapshot(i, need)
	case reads && op.Concern == "majority":
		c.judgeReadTime(i)
		if op.Causal {
			c.judgeCausal(i, need)
		}
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

func (c *clusterTimes) judgeCausal(i int, need uint64) {
	op := &c.ops[i]
	c.causal.Checked++
	if op.Since > 0 && op.Since < need {
		c.causal.Add(c.tooEarly(causalBefore, op,
			fmt.Sprintf("it may have seen a state of %s, and the session had seen %s",
				moment(op.Since), moment(need))))
		return
	}
	c.each(i, need, op.Time, c.checkCausal)
}

func (c *clusterTimes) judgeSnapshot(i int, need uint64) {
	op := &c.ops[i]
	c.snapshot.Checked++
	if op.Causal && op.Time < need {
		c.snapshot.Add(c.tooEarly(snapshotBefore, op,
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
