package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/errcode"
)

var _ = declare(90, Kind{
	Name:  "kill-operation",
	About: "an operator kills the operation at a failpoint",
	Aim:   AtPoint,
	Args:  []Arg{taskArg, aboutArg, passesArg},
	inject: func(c *Case) (repair func()) {
		c.Action.Err = errcode.New(errcode.Interrupted, "killed by fault %d at failpoint %s",
			c.Fault.ID, c.Hit.Site)
		return nil
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{When: d.pass("site", append(requests, migration...)...)}
		f.When.After = 0
		return f
	},
})

var _ = declare(95, Kind{
	Name: "kill-waiting",
	About: "an operator kills every request of clients that waits on a node: for a session, a " +
		"lock, a majority or a refresh, where there is no failpoint",
	Aim: AtNode,
	inject: func(c *Case) (repair func()) {
		for _, id := range c.Target {
			c.world.Interrupt(id, func(task string) bool { return client[task] },
				errcode.New(errcode.Interrupted, "killed by fault %d", c.Fault.ID))
		}
		return nil
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{When: d.anchored(migration...), Target: d.primary("primary")}
		if d.n("among requests", 2) == 0 {
			f.When = d.pass("request", requests...)
			f.Target = d.one("shard", "donor.primary", "recipient.primary")
		}
		return f
	},
})
