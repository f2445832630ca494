package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(10, Kind{
	Name:  "clock-drift",
	About: "a node's wall clock runs too fast or too slow",
	Aim:   AtNode,
	Args: []Arg{numberArg("ppm", "microseconds a second; negative is slow", -500_000,
		500_000, 10_000)},
	inject: func(c *Case) (repair func()) {
		return c.shiftClocks(0, c.number("ppm"))
	},
	draw: func(d *Draw) scenario.Fault {
		ppm := []int{-200_000, -10_000, -200, 200, 10_000, 200_000}
		return scenario.Fault{When: d.at(), Target: d.member("member"), For: d.span("drift"),
			Args: []scenario.Setting{setting("ppm", ppm[d.n("ppm", len(ppm))])}}
	},
})
