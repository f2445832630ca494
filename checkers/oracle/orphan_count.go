package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// orphanCountRule is the part of orphan-count that can be judged while a run goes on; that nothing
// is left over is the audit's.
var orphanCountRule = verdict.Checker{
	Name: "orphan-count",
	Promise: "A range deletion task counts its orphaned documents: from when the deletion may " +
		"begin until it is done, the count is the number of documents that are still there.",
	Signatures: verdict.Meanings{
		orphansMiscounted: "a task's orphan count is not the number of its orphaned documents",
	},
}

var _ = declare(40, orphanCountRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeOrphans}
})

// orphansMiscounted is the signature of a task whose count is not the number of its orphans.
const orphansMiscounted verdict.Signature = "orphan-count-wrong"

// judgeOrphans compares where a task goes on from one state to the next. While it is pending
// nothing of the range is an orphan for certain, nor of a task that is dropped, and a task whose
// collection was replaced has nothing left to count.
func (o *Oracle) judgeOrphans(e *trace.Event) {
	if e.Kind != trace.RangeDeletion || e.DeletionState() == trace.DeletionPending ||
		e.DeletionState() == trace.DeletionDropped ||
		e.Orphans() < 0 || o.world.Set(e.Shard).Leader != e.Node {
		return
	}
	if left := len(o.world.Set(e.Shard).Documents(e.NS, e.Min, e.Max)); left != e.Orphans() {
		o.report(orphanCountRule, verdict.Violation{
			Signature: orphansMiscounted,
			NS:        e.NS,
			Broke: fmt.Sprintf("task %s of %s, which is %s, counts %d orphans in %s",
				e.Migration(), e.Shard, e.State(), e.Orphans(), o.span(e.Min, e.Max)),
			Because: []string{fmt.Sprintf("%s holds %d documents there", e.Node, left)},
		})
	}
}
