package faults

import "github.com/shardproof/shardproof/histories/scenario"

var (
	countArg = numberArg("count", "how many messages in a row", 1, 1000, 1)
	skipArg  = numberArg("skip", "how many messages pass first", 0, 1_000_000, 0)
)

var _ = declare(120, Kind{
	Name:  "lost-request",
	About: "the next control messages are lost, and the sender times out",
	Aim:   AtLink,
	Args:  []Arg{messagesArg, countArg},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests = true
		r.Lose, r.Class, r.Limit = 100, c.classes(), c.number("count")
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault { return drawLoss(d) },
})

func drawLoss(d *Draw) scenario.Fault {
	f := scenario.Fault{
		Target: d.one("link", "*>*", "*>*", "*>*", d.link("which")),
		For:    d.span("window"),
	}
	messages, most := "", 3
	if d.administers() {
		messages, f.When = d.administration()
		f.Target, most = "*>*", 6
	} else {
		messages, f.When = messagesArgs(d), d.anchored(migration...)
	}
	f.Args = []scenario.Setting{
		setting("messages", messages), setting("count", 1+d.n("count", most)),
	}
	return f
}
