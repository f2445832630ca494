package workloads

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(50, Workload{
	Standard: 16,
	Name:     "pushes",
	About:    "unique values pushed to lists, exactly once even if retried, and reads of the lists",
	draw: func(p *plan, o *scenario.Op) {
		o.Key, o.Kind = p.presentKey(listKeys), scenario.Read
		if p.chance("push", 70) {
			o.Kind, o.Value = scenario.Push, p.identity(o.Key)
		}
	},
})
