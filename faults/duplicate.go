package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

var _ = declare(60, Kind{
	Name:  "duplicate",
	About: "control messages are delivered twice, the second time possibly much later",
	Aim:   AtLink,
	Args: []Arg{repeatedArg, percentArg("percentage of messages that are duplicated", 100),
		countArg, skipArg, durationArg("delay",
			"the maximum time between the two deliveries, with copy=late", "100ms"),
		wordArg("copy", "late: the copy comes after a delay; held: it comes when the fault ends",
			"late", "held")},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests = true
		r.Class, r.Skip, r.Limit = c.classes(), c.number("skip"), c.number("count")
		if c.text("copy") == "held" {
			r.Hold, r.Copy = true, true
		} else {
			r.Duplicate, r.Delay = c.number("percent"), c.duration("delay")
		}
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault {
		f := drawLoss(d)
		f.Args = append(f.Args, setting("percent", d.one("percent", "100", "100", "50")),
			setting("delay", d.between("delay", time.Millisecond, 900*time.Millisecond)))
		if d.administers() && d.n("held", 2) == 0 {
			f.Args = append(f.Args, setting("copy", "held"))
		}
		return f
	},
})
