package runner

import (
	"cmp"
	"slices"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// restore makes the collections that may be missing exist again, so that the last pass finds what it is about. What is
// of unknown outcome may still be on its way from a router to the config server, for as long as the router tries.
func (r *run) restore() {
	missing := r.missing()
	if len(missing) == 0 || !r.idle() || r.world.Err() != nil {
		return
	}
	const name = "recreating dropped collections"
	r.busy[name] = true
	r.world.Node(clientNode(0)).Spawn(nil, "restore", func(t env.Task) {
		defer delete(r.busy, name)
		if r.record.leftOpen() && t.Sleep(2*r.settings.AttemptTimeout) != nil {
			return
		}
		for n, ns := range missing {
			r.sessions[0].do(t, &scenario.Op{ID: finalIDs - 1 - n, NS: ns, Kind: scenario.Create})
		}
	})
	r.world.Run(r.idle, r.deadline)
	r.rest()
}

// missing are the collections that may not exist: those that some operation takes away, and those that were not there.
func (r *run) missing() (all []string) {
	for _, c := range r.scenario.Collections {
		taken := func(op scenario.Op) bool {
			return op.NS == c.NS && (op.Kind == scenario.Drop || op.Kind == scenario.Rename)
		}
		if c.Absent || slices.ContainsFunc(r.scenario.Ops, taken) {
			all = append(all, c.NS)
		}
	}
	return all
}

// leftOpen says whether an operation on a whole collection has an unknown outcome.
func (r *recorder) leftOpen() bool {
	for i := range r.ops {
		if r.ops[i].Kind.Whole() && r.ops[i].Outcome == histories.Unknown {
			return true
		}
	}
	return false
}

// creations are the requests that make the scenario's collections anew, with the chunks that they had at the start.
func creations(s *scenario.Scenario) map[string]command.ShardCollection {
	all := make(map[string]command.ShardCollection)
	for _, one := range s.Collections {
		c := founded(one)
		req := command.ShardCollection{NS: c.NS, Key: c.Key, Bounds: c.Bounds}
		for i := range min(len(c.Bounds)+1, cmp.Or(one.Owners, s.Topology.Shards)) {
			req.Shards = append(req.Shards, system.ShardName(i))
		}
		all[c.NS] = req
	}
	return all
}
