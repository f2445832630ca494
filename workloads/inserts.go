package workloads

import "github.com/shardproof/shardproof/histories/scenario"

var inserts = Workload{
	Name:  "inserts",
	About: "documents come and go: inserts that must not overwrite, deletes that return what they removed, reads",
	draw: func(p *plan, o *scenario.Op) {
		o.Key = p.key(lifeKeys)
		switch at := p.pick("kind", 100); {
		case at < 35:
			o.Kind = scenario.Read
		case at < 68:
			o.Kind = scenario.Insert
			o.Value = p.identity(o.Key)
		default:
			o.Kind = scenario.Delete
		}
	},
}
