package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(160, Kind{
	Name: "power-loss",
	About: "all members of a replica set lose power at once, and with it everything that was " +
		"not synced to disk",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When:   d.anchored(onDisk...),
			Target: d.one("set", "donor.*", "recipient.*", "config.*"),
			For:    d.span("down"),
		}
	},
})
