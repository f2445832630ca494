package workloads

import "github.com/shardproof/shardproof/histories/scenario"

// turnover is how many percent of the operations go to the key of the one before: a document that
// is deleted and made again within moments is what a migration most easily gets wrong (protocol
// 6.4).
const turnover = 60

var _ = declare(20, Workload{
	Standard: 16,
	Name:     "inserts",
	About: "inserts that fail on existing documents, deletes that mostly return the document, " +
		"and reads",
	draw: func(p *plan, o *scenario.Op) {
		o.Key = p.key(lifeKeys)
		if p.chance("turnover", turnover) && p.turned != nil {
			o.Key = *p.turned
		}
		p.turned = &o.Key
		switch at := p.pick("kind", 100); {
		case at < 35:
			o.Kind = scenario.Read
		case at < 68:
			o.Kind = scenario.Insert
			o.Value = p.identity(o.Key)
		default:
			o.Kind = scenario.Delete
			if p.chance("counts only", 30) {
				o.Kind = scenario.DeleteOne
			}
		}
	},
})
