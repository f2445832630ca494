package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// CleansUp is called when a shard is asked to answer once its range deletions of a collection are
// done, and what it returns when the answer has come, with whether it is that they are.
func (o *Oracle) CleansUp(shard, ns string) (answered func(done bool)) {
	asked := o.step
	before := o.deletionsOf(shard, ns)
	return func(done bool) {
		if !done || o.drops[ns] >= asked {
			return
		}
		for _, d := range o.deletionsOf(shard, ns) {
			if !slices.Contains(before, d) {
				continue
			}
			o.report(deletionRule, verdict.Violation{
				Signature: cleanedTooEarly,
				NS:        ns,
				Broke: fmt.Sprintf("%s has answered that nothing of %s is left to be deleted",
					shard, ns),
				Because: []string{fmt.Sprintf(
					"the deletion %s of %s was on record when it was asked, at step %d, and is so now",
					d.migration, o.span(d.min, d.max), asked)},
			}, d.step, asked)
		}
	}
}

// deletionsOf are the deletions that a shard has on record, of the collection that has the name now.
func (o *Oracle) deletionsOf(shard, ns string) (of []deletion) {
	for _, d := range o.order.tasks[shard] {
		if d.ns == ns && d.life == o.lives[ns] {
			of = append(of, d)
		}
	}
	return of
}
