package quiet

import (
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
)

// TestRecord: what happened to a node keeps it from counting as undisturbed since before, and its
// set; faults of links keep sets from it, and not what a node does by itself.
func TestRecord(t *testing.T) {
	fault := func(kind, target string) trace.FaultEvent {
		return trace.FaultEvent{Number: 1, FaultKind: kind, Target: target}
	}
	at := func(e *trace.Event, at int64, node string) *trace.Event {
		e.At, e.Node = at, node
		return e
	}
	repair := func(f trace.FaultEvent) *trace.Event { return trace.RepairEvent(f).Event() }
	for name, c := range map[string]struct {
		do        func(*Record)
		node, set bool // undisturbed since 20, in the end
	}{
		"nothing": {func(*Record) {}, true, true},
		"a restart": {func(r *Record) {
			r.Observe(at(trace.NodeDownEvent{}.Event(), 20, "a.0"))
			r.Observe(at(trace.NodeUpEvent{}.Event(), 25, "a.0"))
		}, false, false},
		"a restart before": {func(r *Record) {
			r.Observe(at(trace.NodeDownEvent{}.Event(), 10, "a.0"))
			r.Observe(at(trace.NodeUpEvent{}.Event(), 15, "a.0"))
		}, true, true},
		"a member that is down": {func(r *Record) {
			r.Observe(at(trace.NodeDownEvent{}.Event(), 10, "a.1"))
		}, true, false},
		"another member": {func(r *Record) {
			r.Observe(at(trace.PointHitEvent{Site: "donor.scan"}.Event(), 20, "a.1"))
		}, true, false},
		"another set": {func(r *Record) {
			r.Observe(at(trace.PointHitEvent{Site: "donor.scan"}.Event(), 20, "b.0"))
		}, true, true},
		"replication that is held up": {func(r *Record) {
			r.Observe(at(trace.PointHitEvent{Site: "replica.journal.beforeSync"}.Event(), 1, "a.1"))
		}, true, false},
		"chance":              {func(r *Record) { r.Disturbed("a.0", "", 20) }, false, false},
		"a message by chance": {func(r *Record) { r.Disturbed("b.0", "a.0", 20) }, true, false},
		"a pause of whom nobody says": {func(r *Record) {
			r.Observe(at(fault("pause", "donor.*").Event(), 10, ""))
		}, false, false},
		"a pause in effect": {func(r *Record) {
			r.Observe(at(fault("pause", "a.0").Event(), 10, ""))
		}, false, false},
		"a pause that is over": {func(r *Record) {
			r.Observe(at(fault("pause", "a.0").Event(), 10, ""))
			r.Observe(at(repair(fault("pause", "a.0")), 15, ""))
		}, true, true},
		"a partition in effect": {func(r *Record) {
			r.Observe(at(fault("partition", "a.0").Event(), 10, ""))
		}, true, false},
		"a disk that is slow": {func(r *Record) {
			r.Observe(at(fault("slow-disk", "a.0").Event(), 10, ""))
		}, true, false},
		"a partition that is over": {func(r *Record) {
			r.Observe(at(fault("partition", "a.0").Event(), 10, ""))
			r.Observe(at(repair(fault("partition", "a.0")), 21, ""))
		}, true, false},
		"a partition of another set": {func(r *Record) {
			r.Observe(at(fault("partition", "b.0").Event(), 10, ""))
		}, true, true},
		"a partition of whom nobody says": {func(r *Record) {
			r.Observe(at(fault("partition", "donor.*").Event(), 10, ""))
		}, true, false},
		"a fault of another set that may reach further": {func(r *Record) {
			r.Observe(at(fault("halves", "b.0").Event(), 10, ""))
		}, true, false},
		"an error before": {func(r *Record) {
			r.Observe(at(fault("error", "a.0").Event(), 10, ""))
		}, true, true},
		"a graceful stepdown": {func(r *Record) {
			r.Observe(at(fault("stepdown", "a.0").Event(), 21, ""))
		}, true, true},
	} {
		r := New()
		c.do(r)
		if node, set := r.Node("a.0", 20), r.Set("a", 20); node != c.node || set != c.set {
			t.Errorf("%s: node %v, not %v; set %v, not %v", name, node, c.node, set, c.set)
		}
	}
}
