package harness

import (
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// restore makes the collections that the scenario drops exist again, so that the last pass finds what it is about. A drop
// of unknown outcome may still be on its way from a router to the config server, for as long as the router tries.
func (r *run) restore() {
	dropped := r.dropped()
	if len(dropped) == 0 || r.busy > 0 || r.world.Err() != nil {
		return
	}
	r.busy++
	r.world.Node(clientNode(0)).Spawn(nil, "restore", func(t env.Task) {
		defer func() { r.busy-- }()
		if r.record.leftOpen(scenario.Drop) && t.Sleep(2*r.settings.AttemptTimeout) != nil {
			return
		}
		for n, ns := range dropped {
			r.sessions[0].do(t, &scenario.Op{ID: finalIDs - 1 - n, NS: ns, Kind: scenario.Create})
		}
	})
	r.world.Run(func() bool { return r.busy == 0 }, r.deadline)
	r.rest()
}

// dropped are the collections that some operation drops.
func (r *run) dropped() (all []string) {
	for _, c := range r.scenario.Collections {
		for i := range r.scenario.Ops {
			if op := &r.scenario.Ops[i]; op.Kind == scenario.Drop && op.NS == c.NS {
				all = append(all, c.NS)
				break
			}
		}
	}
	return all
}

// leftOpen says whether an operation of the kind has an unknown outcome.
func (r *recorder) leftOpen(kind scenario.OpKind) bool {
	for i := range r.ops {
		if r.ops[i].Kind == kind && r.ops[i].Outcome == histories.Unknown {
			return true
		}
	}
	return false
}

// creations are the requests that make the scenario's collections anew, with the chunks that they had at the start.
func creations(s *scenario.Scenario) map[string]command.ShardCollection {
	all := make(map[string]command.ShardCollection)
	for _, c := range collections(s) {
		req := command.ShardCollection{NS: c.NS, Key: c.Key, Bounds: c.Bounds}
		for i := range min(len(c.Bounds)+1, s.Topology.Shards) {
			req.Shards = append(req.Shards, system.ShardName(i))
		}
		all[c.NS] = req
	}
	return all
}
