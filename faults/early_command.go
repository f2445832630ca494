package faults

import (
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(155, Kind{
	Name: "early-command",
	About: "the task at a failpoint is paused, and meanwhile an operator gives the next command, " +
		"or asks for the next movement, ahead of its time",
	Aim: AtPoint,
	inject: func(c *Case) (repair func()) {
		var wake func()
		c.Action.Until = func(w func()) { wake = w }
		c.driver.soon(c.world.Hurry)
		return func() {
			if wake != nil {
				wake()
			}
		}
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{When: d.pass("site", commanded...), For: d.span("pause")}
		f.When.After = 0
		return f
	},
})

// commanded are the roles whose work operators' commands can meet: what the balancer and the config
// server do is often passed, and rarely drawn for other faults.
var commanded = slices.Concat(migration, []failpoint.Role{
	failpoint.MovePrimary, failpoint.MovePrimary, failpoint.Balancer, failpoint.Balancer,
	failpoint.Config, failpoint.Split,
})
