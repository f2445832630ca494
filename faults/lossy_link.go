package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(100, Kind{
	Name:  "lossy-link",
	About: "a percentage of the messages of a link is lost",
	Aim:   AtLink,
	Args: []Arg{
		percentArg("percentage of messages that are lost", 20),
		textArg("messages", messagesArg.About, "all"),
	},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Lose, r.Class = c.number("percent"), c.classes()
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When:   d.anchored(migration...),
			Target: d.link("link"),
			For:    d.span("lossy"),
			Args: []scenario.Setting{
				setting("percent", 3+d.n("percent", 40)),
				setting("messages", d.one("messages", "all", "control")),
			},
		}
	},
})
