package workloads

import "github.com/shardproof/shardproof/histories/scenario"

// Short scans find more, since the narrow interval of a scan leaves little that is legal; long ones
// cross chunks and live through whole migrations. Both are needed.
var (
	_ = declare(60, Workload{
		Standard: 9,
		Name:     "scans-short",
		About:    "range scans over a few keys in small batches",
		draw: func(p *plan, o *scenario.Op) {
			p.scan(o, 2+p.pick("width", 6), 1+p.pick("batch", 3))
		},
	})
	_ = declare(70, Workload{
		Standard: 3,
		Name:     "scans-long",
		About:    "range scans over at least half of all keys, in many batches",
		draw: func(p *plan, o *scenario.Op) {
			half := (p.Keys + 1) / 2
			p.scan(o, half+p.pick("width", p.Keys-half+1), 1+p.pick("batch", 5))
		},
	})
)

func (p *plan) scan(o *scenario.Op, width, batch int) {
	width = min(width, p.Keys)
	o.Kind, o.Batch = scenario.Scan, batch
	o.Key = int64(p.pick("from", p.Keys-width+1))
	o.To = o.Key + int64(width)
}
