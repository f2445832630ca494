package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

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

// Another member tries to take over every supersedeStep until one leads, for supersedeTime at most:
// those that lack entries of the old primary are not elected, and get them meanwhile.
const supersedeTime, supersedeStep = 600 * time.Millisecond, 40 * time.Millisecond

var _ = declare(136, Kind{
	Name: "superseded",
	About: "another member of a replica set becomes primary while messages from the members to " +
		"the old primary are delayed, so that the old one carries on, unaware that it is deposed",
	Aim: AtNode,
	Args: []Arg{
		wordArg("answers", "late: each by a random time, so that old answers arrive after the "+
			"election; or held: all until the fault ends", "late", "held"),
		durationArg("delay", "the maximum extra latency of those that are late", "200ms"),
	},
	inject: injectSuperseded,
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			Target: d.primary("primary"),
			For:    d.between("late", 100*time.Millisecond, 1200*time.Millisecond),
			Args: []scenario.Setting{
				setting("answers", d.one("answers", "late", "late", "held")),
				setting("delay", d.between("delay", 20*time.Millisecond, 400*time.Millisecond)),
			},
		}
		if f.When = d.anchored(migration...); d.n("by request", 3) == 0 {
			f.When = d.pass("site", failpoint.Request)
		}
		return f
	},
})

func injectSuperseded(c *Case) (repair func()) {
	var repairs []func()
	for _, id := range c.Target {
		if c.driver.Leader(setOf(id)) != id {
			continue
		}
		others := without(c.driver.roles.resolve(setOf(id)+".*", c.driver.nodes), c.Target)
		rule := Rule{
			From: func(from env.NodeID) bool { return contains(others, from) },
			To:   func(to env.NodeID) bool { return to == id },
			Hold: c.text("answers") == "held",
		}
		if !rule.Hold {
			rule.Delay = c.duration("delay")
		}
		repairs = append(repairs, c.world.Disturb(rule))
		c.driver.supersede(id, others, c.world.Now().Add(supersedeTime))
	}
	return all(repairs)
}

// supersede has one member after the other try to lead the set of a node until one does.
func (d *Driver) supersede(id env.NodeID, others []env.NodeID, ends env.Time) {
	if d.ended || len(others) == 0 || d.world.Now() >= ends || d.Leader(setOf(id)) != id {
		return
	}
	if next := others[0]; d.world.Up(next) {
		d.world.TakeOver(next)
	}
	others = append(others[1:len(others):len(others)], others[0])
	d.world.At(d.world.Now().Add(supersedeStep), func() { d.supersede(id, others, ends) })
}
