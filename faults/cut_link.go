package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(130, Kind{
	Name: "partial-partition",
	About: "two sides cannot reach each other, or one cannot reach the other, while both reach " +
		"everyone else",
	Aim:  AtLink,
	Args: []Arg{wordArg("direction", "both, or forward for from>to only", "both", "forward")},
	inject: func(c *Case) (repair func()) {
		from, to := c.ends()
		return c.world.Partition(from, without(to, from), c.text("direction") == "both")
	},
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When: d.anchored(migration...),
			Target: d.one("link", "donor.primary>recipient.primary", "donor.primary>config.*",
				"recipient.primary>config.*", "donor.primary>donor.secondary"),
			For:  d.span("cut"),
			Args: []scenario.Setting{setting("direction", d.one("direction", "both", "forward"))},
		}
	},
})
