package runner

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// dropStale is what an operator does after moves of a primary in 4.2 that ended half way (invariants 20.1): shards that
// are not the primary of the database drop what they still have of its unsharded collections. It reports whether there was
// anything.
func (r *run) dropStale(t env.Task, ep *rpc.Endpoint) (leaked bool) {
	for _, c := range r.scenario.Collections {
		if !c.Unsharded {
			continue
		}
		table, err := r.cluster.Catalog(c.NS)
		if err != nil {
			continue // the audit finds that, too
		}
		for _, name := range r.cluster.Topology().ShardNames() {
			if table.Shards()[0] != name && r.dropOn(t, ep, name, c.NS) {
				leaked = true
			}
		}
	}
	return leaked
}

// dropOn drops a collection on one shard; what is left then, the audit finds.
func (r *run) dropOn(t env.Task, ep *rpc.Endpoint, name, ns string) bool {
	primary := r.cluster.Primary(name)
	member := r.cluster.Member(primary)
	if member == nil {
		return false
	}
	options, exists := member.Store().Options(ns)
	uuid, _, err := store.DecodeOptions(options)
	if !exists || err != nil {
		return false
	}
	drop := &command.DropClonedData{
		Lsid: string(auditor), Txn: 1, Collections: []command.UnshardedCollection{{NS: ns, UUID: uuid, Options: options}},
	}
	_, err = rpc.Call[command.Done](t, ep, primary, drop, r.settings.CommandTimeout)
	return err == nil
}
