package workloads

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(40, Workload{
	Standard: 8,
	Name:     "updates",
	About:    "blind updates of existing documents, and reads",
	draw: func(p *plan, o *scenario.Op) {
		o.Key, o.Kind = p.presentKey(updateKeys), scenario.Read
		if p.chance("update", 55) {
			o.Kind, o.Value = scenario.Update, p.identity(o.Key)
		}
	},
})
