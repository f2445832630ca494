package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(200, Kind{
	Name:  "stepdown",
	About: "a primary steps down gracefully once another member has caught up",
	Aim:   AtNode,
	inject: func(c *Case) (repair func()) {
		for _, id := range c.Target {
			c.world.StepDown(id)
		}
		return nil
	},
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{When: d.anchored(migration...), Target: d.primary("primary")}
	},
})
