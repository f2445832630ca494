package workloads

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// Reads that need not return the newest state, each with what it promises instead.
var (
	_ = declare(80, Workload{
		Weak: 30,
		Name: "causal-reads",
		About: "causally consistent majority reads of what the client wrote or read, from " +
			"primaries and secondaries",
		draw: func(p *plan, o *scenario.Op) {
			o.Key, o.Kind = p.presentKey(updateKeys), scenario.Update
			if last, wrote := p.last[o.Client]; wrote && p.chance("own", 60) {
				o.Key = last
			}
			if p.chance("write", 40) {
				o.Value = p.identity(o.Key)
				p.last[o.Client] = o.Key
				return
			}
			o.Kind, o.Concern, o.Causal = scenario.Read, "majority", true
			p.prefer(o, 65)
		},
	})
	_ = declare(90, Workload{
		Weak:  10,
		Name:  "secondaries",
		About: "majority and local reads and scans from any member, which may be stale",
		draw: func(p *plan, o *scenario.Op) {
			switch o.Concern = "majority"; {
			case p.chance("available", 15):
				o.Concern = "available"
			case p.chance("local", 25):
				o.Concern = "local"
			}
			if p.scan(o, 2+p.pick("width", 10), 1+p.pick("batch", 4)); p.chance("single", 30) {
				o.Kind, o.To, o.Batch = scenario.Read, 0, 0
			}
			o.Causal = p.chance("causal", 50)
			p.prefer(o, 85)
		},
	})
	_ = declare(100, Workload{
		Weak: 14,
		Name: "snapshot-reads",
		About: "snapshot scans over many chunks, of now and of the past, while documents change " +
			"and chunks move",
		draw: func(p *plan, o *scenario.Op) {
			p.scan(o, 3+p.pick("width", p.Keys), 1+p.pick("batch", 6))
			o.Concern, o.Causal = "snapshot", p.chance("causal", 50)
			if !o.Causal && p.chance("of the past", 50) {
				o.Age = time.Duration(1+p.pick("age", 30)) * 50 * time.Millisecond
			}
			p.prefer(o, 35)
		},
	})
)

// prefer sends so many percent of the reads to secondaries.
func (p *plan) prefer(o *scenario.Op, percent int) {
	if p.chance("secondary", percent) {
		o.Prefer = scenario.Secondary
	}
}
