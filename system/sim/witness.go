package sim

import "github.com/shardproof/shardproof/system/env"

// witness shows an exchange on the node that the task belongs to.
func (t *task) witness(x env.Exchange) {
	w := t.node.world
	if w.opts.Witness == nil || t.node.inert() {
		return
	}
	w.exchange = x
	w.opts.Witness(t.node, &w.exchange)
}
