package shardstore

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/dates"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/warnings"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
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

// deleterOf is the log of a node as the checker of range deletions sees it, nil while it is down.
func (c *cluster) deleterOf(node string) warnings.Log {
	if m := c.Member(env.NodeID(node)); m != nil {
		return logs.Deleter{Keeper: m, Records: protocolOf(c.scenario).PersistsRangeDeletions()}
	}
	return nil
}

// datesOf is the log of a node as the checker of placements sees it, nil while it is down.
func (c *cluster) datesOf(node string) dates.Log {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return nil
	}
	log := logs.Dates{Member: m}
	if m.Leading() {
		log.Leads = m.Term()
	}
	return log
}

// warned has announcements of range deletions judged; of what is written, only by primaries.
func (c *cluster) warned(e *trace.Event) {
	if e.Kind == trace.Applied {
		m := c.Member(env.NodeID(e.Node))
		if e.Actor != trace.RangeDeleter || m == nil || !m.Leading() || m.Term() != e.Term {
			return
		}
	}
	c.warnings.Observe(e)
}

// nextBatch has the next batch of a query on a secondary judged. On a primary, nothing is deleted
// that an open query may read.
func (c *cluster) nextBatch(x *env.Exchange, asked env.Message) {
	req, goesOn := asked.(*command.GetMore)
	m := c.Member(x.To)
	if goesOn && m != nil && !m.Leading() && !c.mayLose() {
		c.warnings.Returned(string(x.To), req.Cursor, req.Number, x.Mark.Applied)
	}
}

// countsOnRecord has the oracle compare what a member counts as outstanding deletions of its shard
// with what it has on record.
func (c *cluster) countsOnRecord(node env.NodeID) {
	m, reply := c.Member(node), c.Counters(node)
	if m == nil || reply == nil {
		return
	}
	want := map[string]int64{"rangeDeleterTasks": 0, "numOrphanDocs": 0}
	if m.IsPrimary() {
		tasks, orphans, err := logs.Deletions(m.Store())
		if err != nil {
			return
		}
		want["rangeDeleterTasks"], want["numOrphanDocs"] = tasks, orphans
	}
	for _, v := range reply.Values {
		if right, recorded := want[v.Name]; recorded {
			c.oracle.OnRecord(string(node), v.Name, v.Count, right)
		}
	}
}

// asksPlacement notes that a secondary asks its primary for a placement.
func (c *cluster) asksPlacement(x *env.Exchange, asked env.Message) {
	req, asks := asked.(*command.FlushRoutingTableCacheUpdates)
	if m := c.Member(x.From); asks && m != nil {
		c.placements.Asked(x.From, req.NS, m)
	}
}

// flushAnswered notes what a secondary has been told.
func (c *cluster) flushAnswered(node env.NodeID, ns string, said *rpc.Envelope) {
	if done, ok := said.Body.(*command.Flushed); ok {
		c.placements.Answered(node, ns, done.At)
	}
}

// learnsPlacement follows what members know of placements, and has the oracle judge whether a
// secondary has what its primary had when that told it.
func (c *cluster) learnsPlacement(e *trace.Event) {
	node := env.NodeID(e.Node)
	switch e.Kind {
	case trace.MetadataInstalled:
		if m := c.Member(node); m != nil {
			wrong := c.placements.Installed(node, e.NS, m)
			if wrong != "" && !m.Leading() {
				c.oracle.LearnedEarly(e.Node, e.NS, wrong)
			}
			since := c.placements.Outdated(node, e.NS, m.Applied().Index, m)
			if since != "" && !m.Leading() {
				c.oracle.LearnedOutdated(e.Node, e.NS, since)
			}
		}
	case trace.MetadataCleared:
		c.placements.Cleared(node, e.NS)
	case trace.RolledBack, trace.NodeDown, trace.Writable: // a primary learns from the catalog
		c.placements.Undone(node)
	}
}

// placedAnswer has the oracle judge the placement by which a secondary has let a query in.
func (c *cluster) placedAnswer(x *env.Exchange, asked env.Message) {
	req, opens := asked.(*command.Find)
	m := c.Member(x.To)
	if !opens || m == nil || m.Leading() || !req.Place.Versioned || req.Place.Database ||
		req.Concern == command.Available {
		return
	}
	if why := c.placements.Outdated(x.To, req.NS, x.Mark.Newest, m); why != "" {
		c.oracle.ReadOutdated(string(x.To), req.NS, why)
	}
}
