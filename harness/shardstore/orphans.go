package shardstore

import (
	"github.com/shardproof/shardproof/system/env"
)

// clearOrphans is what an operator does where range deletions do not survive their primary
// (invariants 20.1): every shard deletes what no shard owns, and after that there must be nothing.
// It returns a sentence for each collection that had any.
func (o operatorConnection) clearOrphans(t env.Task) (repaired []string) {
	for _, c := range o.scenario.Collections {
		if c.Unsharded {
			continue
		}
		a := o.auditOf(t, c.NS, c.Keys)
		if a.hasOrphans() {
			repaired = append(repaired, "orphans of "+c.NS+" were cleaned up")
		}
		for _, name := range o.Topology().ShardNames() {
			// What is left when the time is over, the audit finds.
			for o.cleanUp(t, o.sets[name], c.NS) != nil && o.world.Now() < o.world.Deadline() &&
				t.Sleep(auditEvery) == nil {
			}
		}
	}
	return repaired
}

// hasOrphans reports whether a member holds a document that its shard does not own.
func (a *audited) hasOrphans() bool {
	return a.Orphans()
}
