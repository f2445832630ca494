package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

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

var _ = declare(20, Kind{
	Name:  "clock-jump",
	About: "a node's wall clock jumps forward or back",
	Aim:   AtNode,
	Args:  []Arg{durationArg("by", "how far; negative is back", "2s")},
	inject: func(c *Case) (repair func()) {
		return c.shiftClocks(c.duration("by"), 0)
	},
	draw: func(d *Draw) scenario.Fault {
		by := d.between("by", 10*time.Millisecond, 20*time.Second)
		if d.n("back", 2) == 0 {
			by = -by
		}
		return scenario.Fault{When: d.anchored(migration...),
			Target: d.primary("primary"),
			For:    d.span("wrong"),
			Args:   []scenario.Setting{setting("by", by)}}
	},
})

func (c *Case) shiftClocks(jump time.Duration, ppm int) (repair func()) {
	var repairs []func()
	for _, id := range c.Target {
		repairs = append(repairs, c.world.ShiftClock(id, jump, ppm))
	}
	return all(repairs)
}
