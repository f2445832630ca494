package checkers

import (
	"math"
	"slices"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// removals are the operations that may have taken all documents of a namespace, by namespace: what
// a timeline of one key does not know.
type removals map[string][]removal

// removal is a drop of a collection, or a rename of it or to its name, between two events, if at
// all. Its cluster time says nothing: to a read of any time the collection is gone when it is gone.
type removal struct {
	call, returned uint64
	// brings: the namespace has the documents of another collection from then on, among them
	// perhaps some that it had before.
	brings bool
}

// add notes an operation on a whole collection after which documents may be gone. A refused one is
// not among them.
func (all removals) add(op *histories.Op) {
	if op.Kind != opkind.Drop && op.Kind != opkind.Rename {
		return
	}
	r := removal{call: op.Call, returned: returnedBy(op.Outcome, op.Return)}
	all[op.NS] = append(all[op.NS], r)
	if op.Into != "" {
		r.brings = true
		all[op.Into] = append(all[op.Into], r)
	}
}

// returnedBy is the event by which an operation has taken effect if it ever does.
func returnedBy(outcome histories.Outcome, answer uint64) uint64 {
	if outcome != histories.OK {
		return math.MaxUint64
	}
	return answer
}

// span is from when a document was written to when a read may have looked for it: in cluster times,
// and in events from the call of the write to the answer of the read. What took effect in between
// lies in both.
type span struct {
	lo, hi         uint64
	call, returned uint64
}

// timed reports whether what took effect at a cluster time from lo to hi may lie in the span.
func (s span) timed(lo, hi uint64) bool { return hi >= s.lo && lo <= s.hi }

// between reports whether what took effect between two events may lie in the span.
func (s span) between(call, returned uint64) bool {
	return returned >= s.call && call <= s.returned
}

// cleared reports whether a collection may have lost all its documents in a span of time.
func (all removals) cleared(ns string, s span) bool {
	return slices.ContainsFunc(all[ns], func(r removal) bool {
		return s.between(r.call, r.returned)
	})
}

// brought reports whether documents of another collection may have come under the name in a span of
// time.
func (all removals) brought(ns string, s span) bool {
	return slices.ContainsFunc(all[ns], func(r removal) bool {
		return r.brings && s.between(r.call, r.returned)
	})
}
