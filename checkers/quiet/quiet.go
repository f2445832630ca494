// Package quiet remembers what has disturbed a cluster, and when: what judges have to know before
// they say that something happened for no reason.
//
// Promise: nothing that a fault, chance or an operator does to a node is missed, as long as it is
// given all events of the cluster and told where chance hits. In doubt, something counts as
// disturbed.
//
// Refusal: it judges nothing, and does not know what a disturbance may have led to.
package quiet

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// Record is what has disturbed a cluster so far. The zero Record is not ready: see New.
type Record struct {
	// hit is when something last happened to a node: it stopped or started, or a fault or chance had
	// something happen at a failpoint that it passed.
	hit map[string]int64
	// down are the nodes that have stopped and not started again, and of which set they are.
	down map[string]string
	// faults are those in effect.
	faults []fault
	// ended is when a fault last began or was repaired that may have disturbed a replica set, by the
	// set; those that may have disturbed any are without one.
	ended map[string]int64
	// chance is when a fault of chance last hit a message from or to a replica set.
	chance map[string]int64
	// stuck are the replica sets of which a task of replication itself was held up, for as long as
	// nobody says.
	stuck map[string]bool
}

// fault is one that is in effect: which replica set it may disturb, empty for any, and on which
// node it may hold up tasks, if on any.
type fault struct {
	number      int
	set, target string
}

// New returns the record of a cluster to which nothing has happened.
func New() *Record {
	return &Record{
		hit: map[string]int64{}, ended: map[string]int64{}, down: map[string]string{},
		chance: map[string]int64{}, stuck: map[string]bool{},
	}
}

// atOnce are the kinds of faults that are over once they have happened.
var atOnce = []string{"error", "kill-operation", "kill-waiting", "stepdown"}

// ofReplication are the kinds that disturb what is sent from one node to another or written to a
// disk, and no task that waits until a time is over.
var ofReplication = []string{
	"duplicate", "isolated-primary", "lossy-link", "lost-reply", "lost-request",
	"partial-partition", "partition", "slow-disk", "slow-link",
	"superseded",
}

// ofNodes are the kinds that disturb the set of the node at which they are aimed, and no other.
var ofNodes = []string{
	"clock-drift", "clock-jump", "crash", "crash-loop", "error", "isolated-primary",
	"kill-operation", "kill-waiting", "partition", "pause", "slow-disk",
	"superseded",
}

// Observe takes the next event.
func (r *Record) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.NodeUp:
		r.hit[e.Node] = e.At
		delete(r.down, e.Node)
	case trace.NodeDown:
		r.hit[e.Node], r.down[e.Node] = e.At, setOf(e.Node)
	case trace.ProcessAborted:
		r.hit[e.Node] = e.At
	case trace.PointHit:
		r.hit[e.Node] = e.At
		if strings.HasPrefix(e.Site(), "replica.") {
			r.stuck[setOf(e.Node)] = true
		}
	case trace.Fault:
		r.begin(e)
	case trace.Repair:
		r.repair(e)
	}
}

// begin notes a fault. A graceful stepdown is one that only its own set notices, and who judges
// that is told of it.
func (r *Record) begin(e *trace.Event) {
	if e.FaultKind() == "stepdown" {
		return
	}
	f := fault{number: e.FaultNumber(), set: disturbs(e)}
	r.ended[f.set] = e.At
	if !slices.Contains(ofReplication, e.FaultKind()) {
		f.target = aim(e)
		r.hit[f.target] = e.At
	}
	if !slices.Contains(atOnce, e.FaultKind()) {
		r.faults = append(r.faults, f)
	}
}

// disturbs is the only replica set that a fault can disturb, by the node at which it is aimed;
// empty when there may be others. A node that is cut off is so from its own set, and others notice
// nothing among themselves.
func disturbs(e *trace.Event) string {
	set, is := memberOf(e.Peer)
	if !is || !slices.Contains(ofNodes, e.FaultKind()) {
		return ""
	}
	return set
}

func (r *Record) repair(e *trace.Event) {
	r.ended[disturbs(e)] = e.At
	if !slices.Contains(ofReplication, e.FaultKind()) {
		r.hit[aim(e)] = e.At
	}
	r.faults = slices.DeleteFunc(r.faults, func(f fault) bool {
		return f.number == e.FaultNumber()
	})
}

// Disturbed notes that a fault of chance hits a node, or a message from it to another.
func (r *Record) Disturbed(node, to string, at int64) {
	if to == "" {
		r.hit[node] = at
		return
	}
	r.chance[setOf(node)], r.chance[setOf(to)] = at, at
}

// Node says whether nothing has happened since a moment that may have kept a task of the node from
// going on, or from waiting for as long as it was to. Messages that do not come keep none from it.
func (r *Record) Node(node string, since int64) bool {
	for _, of := range []string{node, anywhere} {
		if hit, was := r.hit[of]; was && hit >= since {
			return false
		}
	}
	return !slices.ContainsFunc(r.faults, func(f fault) bool {
		return f.target == node || f.target == anywhere
	})
}

// anywhere is the target of a fault that may be aimed at any node.
const anywhere = "*"

// aim is the node at which a fault is aimed.
func aim(e *trace.Event) string {
	if _, is := memberOf(e.Peer); is {
		return e.Peer
	}
	return anywhere
}

// memberOf is the set of a node; a target that is none has none.
func memberOf(target string) (set string, is bool) {
	set, number, _ := strings.Cut(target, ".")
	_, err := strconv.Atoi(number)
	return set, err == nil
}

// Set says whether all of a replica set has been running since a moment, with no fault in effect
// that may disturb it and none of chance among its members.
func (r *Record) Set(set string, since int64) bool {
	disturbed, by := r.chance[set]
	if r.stuck[set] || by && disturbed >= since ||
		slices.ContainsFunc(r.faults, func(f fault) bool { return f.set == "" || f.set == set }) {
		return false
	}
	for _, of := range []string{"", set} {
		if at, was := r.ended[of]; was && at >= since {
			return false
		}
	}
	//shardproof:allow map whether any of them was hit does not depend on the order
	for node, hit := range r.hit {
		if setOf(node) == set && hit >= since {
			return false
		}
	}
	//shardproof:allow map whether any of them is down does not depend on the order
	for _, of := range r.down {
		if of == set {
			return false
		}
	}
	return true
}

// setOf is the replica set of a node, by its name.
func setOf(node string) string {
	set, _, _ := strings.Cut(node, ".")
	return set
}
