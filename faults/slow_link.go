package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

var _ = declare(190, Kind{
	Name:  "slow-link",
	About: "messages of a link are delayed by a random time, so that they are reordered",
	Aim:   AtLink,
	Args:  []Arg{durationArg("delay", "the maximum extra latency", "200ms"), messagesArg},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Delay, r.Class = c.duration("delay"), c.classes()
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When: d.anchored(migration...), Target: d.link("link"), For: d.span("slow"),
			Args: []scenario.Setting{
				setting("delay", d.between("delay", 5*time.Millisecond, 400*time.Millisecond)),
				setting("messages", d.one("messages", "all", "control", "commit")),
			},
		}
	},
})
