package sim

import "github.com/shardproof/shardproof/system/env"

// witness shows an exchange on the node that the task belongs to, and returns the mark that it then
// has.
func (t *task) witness(x env.Exchange) env.Mark {
	w := t.node.world
	if w.opts.Witness == nil || t.node.inert() {
		return x.Mark
	}
	w.exchange = x
	w.opts.Witness(t.node, &w.exchange)
	return w.exchange.Mark
}
