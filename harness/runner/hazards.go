package runner

import (
	"strings"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// setHazards has the world lose, double and slow down a few of all messages and disk operations.
func (r *run) setHazards(p *faultWorld) {
	c := &r.conditions
	if c.loss+c.tail > 0 {
		r.hazards = append(r.hazards, r.world.AddRule(sim.Rule{Loss: sim.Probability(c.loss), Tail: sim.Probability(c.tail)}))
	}
	if c.duplicate > 0 {
		double := func(m *sim.Message) bool { return faults.MayDouble(m.Class) }
		r.hazards = append(r.hazards, r.world.AddRule(sim.Rule{Match: double, Duplicate: sim.Probability(c.duplicate)}))
	}
	if c.chains > 0 {
		between := func(m *sim.Message) bool { return replicaSet(m.From) != replicaSet(m.To) } // replication keeps its pace
		r.hazards = append(r.hazards, r.world.AddRule(sim.Rule{Match: between, Chain: sim.Probability(c.chains), PriorityChange: sim.Probability(c.demotions)}))
	}
	r.world.SetStalls(sim.Probability(c.stall), c.stallDelay)
	if p.diskTail > 0 {
		for _, id := range r.cluster.Servers() {
			r.world.SetDiskSlowness(id, 1, p.diskTail)
		}
	}
}

// replicaSet is the part of a node's name that members share.
func replicaSet(id env.NodeID) string {
	set, _, _ := strings.Cut(string(id), ".")
	return set
}

// stepDown asks a member from its own machine, as an operator with a shell would.
func (r *run) stepDown(id env.NodeID) {
	m, node := r.cluster.Member(id), r.world.Node(id)
	if m == nil || node == nil || !m.Leading() {
		return
	}
	node.Spawn(nil, "operator steps down", func(t env.Task) {
		// A stepdown that finds no successor is refused, which is an answer.
		_ = m.StepDown(t)
	})
}
