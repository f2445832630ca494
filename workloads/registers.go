package workloads

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(10, Workload{
	Standard: 38,
	Name:     "registers",
	About: "reads, replacements and compare-and-set on single documents; writes return what they " +
		"replaced",
	draw: func(p *plan, o *scenario.Op) {
		o.Key = p.key(registerKeys)
		switch at := p.pick("kind", 100); {
		case at < 45:
			o.Kind = scenario.Read
		case at < 75:
			o.Kind = scenario.Write
			o.Value = p.identity(o.Key)
		default:
			o.Kind, o.Expect = scenario.CAS, p.expectation(o.Key)
			o.Value = p.identity(o.Key)
		}
	},
})
