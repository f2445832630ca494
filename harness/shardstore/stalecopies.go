package shardstore

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// dropStale is what an operator does after moves of a primary in 4.2 that ended half way
// (invariants 20.1): shards that are not the primary of the database drop what they still have of
// its unsharded collections. It returns a sentence for each copy that was dropped.
func (o operatorConnection) dropStale(t env.Task) (repaired []string) {
	for i := range o.scenario.Collections {
		c := &o.scenario.Collections[i]
		if !o.unsharded(c) {
			continue
		}
		table, err := o.Catalog(c.NS)
		if err != nil {
			continue // the audit finds that, too
		}
		for _, name := range o.Topology().ShardNames() {
			if table.Shards()[0] != name && o.hasUnsharded(name, c.NS) && o.dropOn(t, name, c.NS) {
				repaired = append(repaired,
					fmt.Sprintf("a stale copy of %s was dropped on %s", c.NS, name))
			}
		}
	}
	return repaired
}

// hasUnsharded reports whether a shard has the collection, and not as a sharded one.
func (o operatorConnection) hasUnsharded(name, ns string) bool {
	member := o.Member(o.Primary(name))
	if member == nil {
		return false
	}
	pattern, exists := member.Store().Pattern(ns, store.Latest)
	return exists && pattern.Unsharded
}

// dropOn drops a collection on one shard; what is left then, the audit finds.
func (o operatorConnection) dropOn(t env.Task, name, ns string) bool {
	primary := o.Primary(name)
	member := o.Member(primary)
	if member == nil {
		return false
	}
	options, exists := member.Store().Options(ns)
	if !exists {
		return false
	}
	drop := &command.DropClonedData{
		Lsid:        operatorSession,
		Txn:         1,
		Collections: []command.UnshardedCollection{{NS: ns, Options: options}},
	}
	_, err := rpc.Call[command.Done](t, o.ep, primary, drop, o.settings.CommandTimeout)
	return err == nil
}

// operatorSession is the session in which operators drop stale copies.
const operatorSession = "auditor.0"
