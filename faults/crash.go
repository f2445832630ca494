package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// defaultDowntime is how long a node is down after a crash that no scenario times.
const defaultDowntime = 700 * time.Millisecond

var _ = declare(40, Kind{
	Name:   "crash",
	About:  "a member crashes, losing its memory and unsynced data, and restarts from its disk",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			When:   d.anchored(onDisk...),
			Target: d.member("member"),
			For:    d.span("down"),
		}
		if d.n("role", 2) == 0 {
			f.Target = d.primary("primary")
		}
		return f
	},
})

// injectCrash kills the targets; the node that is passing the trigger's site dies right there.
func injectCrash(c *Case) (repair func()) {
	d := c.driver
	for _, id := range c.Target {
		if c.Hit != nil && c.Hit.Node == id {
			d.crash(id, c.Action)
		} else if c.world.Up(id) {
			d.world.Crash(id)
		}
	}
	return func() {
		for _, id := range c.Target {
			d.restart(id)
		}
	}
}

// crash kills the node that is passing a point.
func (d *Driver) crash(id env.NodeID, a *Action) {
	if d.world.Up(id) {
		a.Crash = true
	}
}

func (d *Driver) restart(id env.NodeID) {
	if !d.world.Up(id) {
		d.world.Restart(id)
	}
}

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

var _ = declare(50, Kind{
	Name: "donor-failover",
	About: "the donor's primary in the latest migration crashes; another member is elected and " +
		"must recover it",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When:   d.anchored(failpoint.Donor, failpoint.Donor, failpoint.Session),
			Target: "donor.primary",
			For:    d.span("down"),
		}
	},
})

var _ = declare(170, Kind{
	Name:   "recipient-crash",
	About:  "the recipient's primary in the latest migration crashes while it receives data",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			When:   d.anchored(failpoint.Recipient),
			Target: "recipient.primary",
			For:    d.span("down"),
		}
		if d.n("aborted", 10) == 0 {
			// The short time between an abort and the end of its completion.
			f.When = scenario.Trigger{
				Site:  failpoint.RecipientAbort.String(),
				Nth:   1,
				After: d.between("aborted after", time.Millisecond, 20*time.Millisecond),
			}
		}
		return f
	},
})
