package faults

import (
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(150, Kind{
	Name:   "pause",
	About:  "the task at a failpoint is paused for a time or until an event, while its node runs on",
	Aim:    AtPoint,
	Args:   []Arg{taskArg, aboutArg, passesArg},
	inject: (*Case).holdTask,
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{When: d.pass("site", migration...), For: d.span("pause")}
		if d.n("request", 4) == 0 {
			f.When = d.pass("site", requests...)
		}
		f.When.After = 0
		if d.n("until an event", 3) == 0 {
			until := d.pass("until", migration...)
			until.Nth = 1
			f.Until = &until
		}
		return f
	},
})

// holdTask has the task at the failpoint stand still until release is called.
func (c *Case) holdTask() (release func()) {
	var wake func()
	c.Action.Until = func(w func()) { wake = w }
	return func() {
		if wake != nil {
			wake()
		}
	}
}

var _ = declare(155, Kind{
	Name: "early-command",
	About: "the task at a failpoint is paused, and meanwhile an operator gives the next scheduled " +
		"command, or requests the next migration or movePrimary, early",
	Aim: AtPoint,
	inject: func(c *Case) (repair func()) {
		c.driver.soon(c.world.Hurry)
		return c.holdTask()
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
