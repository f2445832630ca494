package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
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
