package workloads

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(30, Workload{
	Standard: 10,
	Name:     "upserts",
	About:    "blind upserts that replace or insert documents, and reads",
	draw: func(p *plan, o *scenario.Op) {
		o.Key, o.Kind = p.key(upsertKeys), scenario.Read
		if p.chance("upsert", 55) {
			o.Kind, o.Value = scenario.Upsert, p.identity(o.Key)
		}
	},
})
