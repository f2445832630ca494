package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// requests are the roles that a client's operation passes.
var requests = []failpoint.Role{failpoint.Request, failpoint.Router}

var _ = declare(70, Kind{
	Name:  "error",
	About: "the step at a failpoint fails with an error",
	Aim:   AtPoint,
	Args: []Arg{
		textArg("code", "the error code, as drivers know it", string(errcode.FailPointEnabled)),
		taskArg, aboutArg, passesArg,
	},
	inject: func(c *Case) (repair func()) {
		c.Action.Err = errcode.New(errcode.Code(c.text("code")), "fault %d at failpoint %s",
			c.Fault.ID, c.Hit.Site)
		return nil
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{When: d.pass("site", migration...)}
		f.When.After = 0
		f.Args = []scenario.Setting{setting("code",
			d.one("code", "FailPointEnabled", "FailPointEnabled", "NetworkTimeout",
				"HostUnreachable", "ExceededTimeLimit", "WriteConcernFailed"))}
		return f
	},
})
