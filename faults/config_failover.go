package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(30, Kind{
	Name:   "config-failover",
	About:  "the primary of the config server crashes, typically during a commit",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When:   d.anchored(failpoint.Config),
			Target: "config.primary",
			For:    d.span("down"),
		}
	},
})
