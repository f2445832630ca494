package runner

import (
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// restore makes the collections that may be missing exist again, so that the final pass finds what
// it is about. What is of unknown outcome may still be on its way through the system, for as long
// as that tries.
func (p *clientPool) restore() {
	missing := p.missing()
	if len(missing) == 0 || !p.idle() || p.world.Err() != nil {
		return
	}
	const name = "recreating dropped collections"
	p.tasks.begin(name)
	p.world.Node(clientNode(0)).Spawn(nil, "restore", func(t env.Task) {
		defer p.tasks.end(name)
		if p.history.leftOpen() && t.Sleep(p.system.Linger()) != nil {
			return
		}
		for n, ns := range missing {
			p.sessions[0].do(t, &scenario.Op{ID: finalIDs - 1 - n, NS: ns, Kind: scenario.Create})
		}
	})
	p.world.Run(p.idle, p.deadline)
}

// missing are the collections that may not exist: those that some operation takes away, and those
// that were not there.
func (p *clientPool) missing() (all []string) {
	for _, c := range p.scenario.Collections {
		taken := func(op scenario.Op) bool {
			return op.NS == c.NS && (op.Kind == scenario.Drop || op.Kind == scenario.Rename)
		}
		if c.Absent || slices.ContainsFunc(p.scenario.Ops, taken) {
			all = append(all, c.NS)
		}
	}
	return all
}
