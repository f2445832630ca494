package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(135, Kind{
	Name: "isolated-primary",
	About: "a primary cannot reach the other members of its set, while everybody else reaches " +
		"all: no majority gets what it writes and answers by, and it is rolled back",
	Aim: AtNode,
	inject: func(c *Case) (repair func()) {
		var repairs []func()
		for _, id := range c.Target {
			rest := without(c.driver.roles.resolve(setOf(id)+".*", c.driver.nodes), c.Target)
			repairs = append(repairs, c.world.Partition([]env.NodeID{id}, rest, true))
		}
		return func() {
			for _, r := range repairs {
				r()
			}
		}
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{Target: d.one("primary", "config.primary", "config.primary",
			"donor.primary", "recipient.primary"), For: d.span("cut")}
		switch f.Target {
		case "config.primary":
			f.When = d.anchored(failpoint.Config)
		case "donor.primary":
			f.When = d.anchored(failpoint.Donor, failpoint.Recovery, failpoint.RangeDeleter)
		default:
			f.When = d.anchored(failpoint.Recipient, failpoint.Session)
		}
		return f
	},
})
