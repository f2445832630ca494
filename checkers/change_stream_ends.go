package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// misplaced says what is wrong with a change behind another one of the same watch: the end of the
// collection is followed by the invalidation of the stream, and that by nothing.
func misplaced(before, c *histories.Change) string {
	gone := before != nil && before.Gone()
	switch {
	case before != nil && before.Kind == "invalidate":
		return "the stream had been invalidated"
	case gone && c.Kind != "invalidate":
		return "the collection was already gone: " + tellChange(before)
	case !gone && c.Kind == "invalidate":
		return "no earlier change says that the collection was dropped or renamed"
	}
	return ""
}

// judgeEnds holds the ends of streams against each other and the operations on the whole
// collection. Each shard tells of the end at a time of its own, and all of them between the last
// write before it and the first one after it; which one a reader is delivered does not matter.
func (l *changeLog) judgeEnds(v *Verdict, ops *compact.History) {
	for _, c := range l.ends {
		if !anyWhole(ops, func(op *histories.Op) bool {
			return l.takes(op) &&
				op.Outcome != histories.Failed
		}) {
			v.Add(Violation{
				Signature: changeInvented,
				NS:        l.ns,
				Broke:     "the streams delivered " + tellChange(c),
				Because:   []string{"no operation dropped or renamed the collection"},
			})
		}
		for _, op := range l.watches {
			s := op.Stream
			if s.After.Compare(c.Token) < 0 && c.Token.Compare(s.Upto()) < 0 && !ended(s) {
				v.Add(l.skipped(op, c))
			}
		}
	}
	for i := range l.covered {
		if s := &l.covered[i]; s.drained && s.opened != 0 {
			l.demandEnd(v, s, ops)
		}
	}
}

// demandEnd: a stream that was read to the end of the run without ending contradicts every
// acknowledged drop or rename that was called after it was opened. A stream can also be opened on
// an unsharded collection that does not exist, so the operation must say that it ended one.
func (l *changeLog) demandEnd(v *Verdict, s *stretch, ops *compact.History) {
	anyWhole(ops, func(op *histories.Op) bool {
		missed := l.takes(op) && op.Outcome == histories.OK && op.Result.Applied &&
			(op.NS == l.ns || op.Result.Found) && op.Call > s.opened
		if missed {
			v.Add(Violation{
				Signature: ChangeMissed,
				NS:        l.ns,
				Ops:       []int{op.ID},
				Broke:     fmt.Sprintf("operation %d (%s) ended no stream", op.ID, op.Kind),
				Because: []string{
					fmt.Sprintf(
						"it was called at event %d, after a stream was opened at event %d, and "+
							"acknowledged", op.Call, s.opened,
					),
					"the readers read on from there to the end of the run",
				},
			})
		}
		return missed
	})
}

// takes says whether the operation, if it is carried out, is the end of the collection that has the
// name.
func (l *changeLog) takes(op *histories.Op) bool {
	switch kind := op.Kind.Of(); {
	case kind.Shape != opkind.Whole:
		return false
	case kind.Effect == opkind.Remove:
		return op.NS == l.ns
	case kind.Effect == opkind.Move:
		return op.NS == l.ns || op.Into == l.ns
	}
	return false
}

// anyWhole says whether it holds for an operation on a whole collection.
func anyWhole(ops *compact.History, is func(*histories.Op) bool) bool {
	for i := range ops.Len() {
		if ops.Kind(ops.Op(i)).Shape == opkind.Whole && is(ops.Operation(i)) {
			return true
		}
	}
	return false
}

// ended says whether the watch was delivered the end of the collection.
func ended(s *histories.Stream) bool {
	n := len(s.Batches)
	if n == 0 || len(s.Batches[n-1].Changes) == 0 {
		return false
	}
	all := s.Batches[n-1].Changes
	return all[len(all)-1].Ends()
}
