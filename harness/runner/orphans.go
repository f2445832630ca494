package runner

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// clearOrphans is what an operator does where range deletions do not survive their primary (invariants 20.1): every shard
// deletes what nobody owns, and after that there must be nothing. It reports whether there was anything.
func (r *run) clearOrphans(t env.Task, ep *rpc.Endpoint, sets map[string]*rpc.Set) bool {
	leaked := false
	for _, c := range r.scenario.Collections {
		if c.Unsharded {
			continue
		}
		a := r.auditOf(t, ep, c.NS, c.Keys)
		leaked = leaked || a.hasOrphans()
		for _, name := range r.cluster.Topology().ShardNames() {
			// What is left when the time is over, the audit finds.
			for r.cleanUp(t, sets[name], c.NS) != nil && r.world.Now() < r.deadline && t.Sleep(auditEvery) == nil {
			}
		}
	}
	return leaked
}

// hasOrphans reports whether a member holds a document that its shard does not own.
func (a *audited) hasOrphans() bool {
	return a.Orphans()
}
