package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/errcode"
)

var _ = declare(90, Kind{
	Name:  "kill-operation",
	About: "an operator kills the operation at a failpoint",
	Aim:   AtPoint,
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
