package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
)

var _ = declare(80, Kind{
	Name:  "hold",
	About: "control messages are held until a time or an event, and then delivered",
	Aim:   AtLink,
	Args: []Arg{messagesArg, countArg, skipArg,
		wordArg("part", "what is held: the requests, or the replies to them", "request", "reply")},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Replies = c.text("part") == "reply"
		r.Requests = !r.Replies
		r.Hold, r.Class, r.Skip, r.Limit = true, c.classes(), c.number("skip"), c.number("count")
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault {
		f := drawLoss(d)
		if d.n("until an event", 2) == 0 {
			until := d.pass("until", migration...)
			until.Nth = 1
			f.Until = &until
		}
		return f
	},
})
