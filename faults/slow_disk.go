package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(180, Kind{
	Name:  "slow-disk",
	About: "every disk operation of a node takes many times longer",
	Aim:   AtNode,
	Args:  []Arg{numberArg("factor", "how many times longer", 2, 100000, 50)},
	inject: func(c *Case) (repair func()) {
		var repairs []func()
		for _, id := range c.Target {
			repairs = append(repairs, c.world.SlowDisk(id, c.number("factor")))
		}
		return all(repairs)
	},
	draw: func(d *Draw) scenario.Fault {
		factor := []int{10, 30, 100, 300, 1000}
		f := scenario.Fault{
			When: d.anchored(migration...), Target: d.primary("primary"), For: d.span("slow"),
			Args: []scenario.Setting{setting("factor", factor[d.n("factor", len(factor))])},
		}
		if d.n("any member", 3) == 0 {
			f.Target = d.member("member")
		}
		return f
	},
})

// all is several repairs as one.
func all(repairs []func()) func() {
	return func() {
		for _, repair := range repairs {
			repair()
		}
	}
}
