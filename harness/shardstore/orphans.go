package shardstore

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/system/env"
)

// anotherOn says that a replica set that is no shard has what is left of another collection of the
// name: it heard of neither its end nor this one, and no shard's command deletes that.
func (a *audited) anotherOn(set string) bool {
	return slices.ContainsFunc(a.Members, func(m endstate.Member) bool {
		return m.Shard == set && m.Outside && m.UUID != "" && m.UUID != a.UUID
	})
}

// anotherOnAll says that of every member of the replica set: no other may lead it meanwhile and
// have the collection of today.
func (a *audited) anotherOnAll(set string) bool {
	return a.anotherOn(set) && !slices.ContainsFunc(a.Members, func(m endstate.Member) bool {
		return m.Shard == set && (!m.Outside || m.UUID == a.UUID)
	})
}

// clearOrphans is what an operator does where range deletions do not survive their primary
// (invariants 20.1): every shard deletes what no shard owns, and after that there must be nothing.
// It returns a sentence for each collection that had any. Where an orphan has no such cause,
// nothing is deleted, and the survey finds it.
func (o operatorConnection) clearOrphans(t env.Task) (repaired []string) {
	for i := range o.scenario.Collections {
		c := &o.scenario.Collections[i]
		if o.unsharded(c) {
			continue
		}
		a := o.auditOf(t, c.NS, c.Keys)
		orphans := a.Orphans()
		if slices.ContainsFunc(orphans, func(d endstate.Orphan) bool {
			return !o.oracle.MayForget(c.NS, d.Member.Shard, d.Shard)
		}) {
			continue
		}
		if len(orphans) > 0 {
			repaired = append(repaired, "orphans of "+c.NS+" were cleaned up")
		}
		for _, name := range o.Topology().ShardNames() {
			if a.anotherOn(name) {
				o.dropOn(t, name, c.NS)
				continue
			}
			// What is left when the time is over, the audit finds.
			wait := max(o.settings.MoveWait, leastCleanup)
			for o.cleanUp(t, o.sets[name], c.NS, wait) != nil &&
				o.world.Now() < o.world.Deadline() && t.Sleep(auditEvery) == nil {
			}
		}
	}
	return repaired
}

// leastCleanup is how long the cleanup at the end waits for a range at least: a client with less
// patience would ask again and again for what a slow shard is about to have done.
const leastCleanup = 20 * time.Second
