package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(110, Kind{
	Name:  "lost-reply",
	About: "the next control messages are executed, but their replies are lost",
	Aim:   AtLink,
	Args:  []Arg{messagesArg, countArg},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests = true
		r.LoseReply, r.Class, r.Limit = 100, c.classes(), c.number("count")
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault { return drawLoss(d) },
})
