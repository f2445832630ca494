package automerge

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Left is a chunk that could be merged with its right neighbour, and where that one ends.
type Left struct{ NS, Min, Max string }

// FirstLeft is the first chunk of a table, in the order of keys, that can be merged with its right
// neighbour: both are on one shard, since before a time; they are in one zone, or in none; and
// neither is jumbo. It is the zero Left if there is none.
func FirstLeft(ns string, table []trace.Chunk, c *model.Cluster, before uint64) Left {
	for i := 1; i < len(table); i++ {
		a, b := &table[i-1], &table[i]
		if a.Shard == b.Shard && !a.Jumbo && !b.Jumbo && max(a.Since, b.Since) < before &&
			!c.Crosses(ns, a.Min, b.Max) {
			return Left{ns, a.Min, b.Max}
		}
	}
	return Left{}
}

// NotMerged reports chunks that were left although nothing forbade their merge for that long; span
// turns a range of keys into text for people.
func (j *Judge) NotMerged(l Left, waited time.Duration, span func(lo, hi string) string) {
	j.checked++
	j.found = append(j.found, verdict.Violation{
		Signature: notMerged,
		NS:        l.NS,
		Broke: fmt.Sprintf("the chunks of %s in %s are still apart, and could be one", l.NS,
			span(l.Min, l.Max)),
		Because: []string{fmt.Sprintf("nothing has forbidden that for %s, in which several passes "+
			"of automatic merges should have been made", waited)},
		Events: []uint64{j.step},
	})
}
