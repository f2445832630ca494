package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// A primary that is not told of its successor asks until it is out of date for certain: longer than
// an election takes nobody believes to lead whom no majority answers.
const supersedeTime, supersedeStep = 600 * time.Millisecond, 40 * time.Millisecond

var _ = declare(136, Kind{
	Name: "superseded",
	About: "another member takes the lead of a replica set, while what the members send to the " +
		"primary before it is late: that one goes on and does not know that it is deposed",
	Aim: AtNode,
	Args: []Arg{
		wordArg("answers", "late: each by a random time, so that old answers arrive after the "+
			"election; or held: all until the fault ends", "late", "held"),
		durationArg("delay", "the maximum extra latency of those that are late", "200ms"),
	},
	inject: func(c *Case) (repair func()) {
		var repairs []func()
		for _, id := range c.Target {
			if c.driver.Leader(setOf(id)) != id {
				continue
			}
			set := without(c.driver.roles.resolve(setOf(id)+".*", c.driver.nodes), c.Target)
			rule := Rule{
				From: func(from env.NodeID) bool { return contains(set, from) },
				To:   func(to env.NodeID) bool { return to == id },
				Hold: c.text("answers") == "held",
			}
			if !rule.Hold {
				rule.Delay = c.duration("delay")
			}
			repairs = append(repairs, c.world.Disturb(rule))
			c.driver.supersede(id, set, c.world.Now().Add(supersedeTime))
		}
		return func() {
			for _, r := range repairs {
				r()
			}
		}
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			Target: d.primary("primary"),
			For:    d.between("late", 100*time.Millisecond, 1200*time.Millisecond),
			Args: []scenario.Setting{
				setting("answers", d.one("answers", "late", "late", "held")),
				setting("delay", d.between("delay", 20*time.Millisecond, 400*time.Millisecond)),
			},
		}
		switch {
		case d.n("by request", 3) == 0:
			f.When = d.pass("site", failpoint.Request)
		default:
			f.When = d.anchored(migration...)
		}
		return f
	},
})

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
