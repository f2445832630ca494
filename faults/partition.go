package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

var direction = wordArg("direction",
	"which messages are cut: both, in (to the target) or out (from it)", "both", "in", "out")

var _ = declare(140, Kind{
	Name:  "partition",
	About: "a node is cut off from all others, in both directions or in one",
	Aim:   AtNode,
	Args:  []Arg{direction},
	inject: func(c *Case) (repair func()) {
		rest := without(c.world.Nodes(), c.Target)
		switch c.text("direction") {
		case "in":
			return c.world.Partition(rest, c.Target, false)
		case "out":
			return c.world.Partition(c.Target, rest, false)
		}
		return c.world.Partition(c.Target, rest, true)
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			When:   d.anchored(migration...),
			Target: d.primary("primary"),
			For:    d.span("cut"),
		}
		if d.n("any member", 4) == 0 {
			f.Target = d.member("member")
		}
		f.Args = []scenario.Setting{setting("direction",
			d.one("direction", "both", "both", "in", "out"))}
		return f
	},
})

func without(nodes, less []env.NodeID) []env.NodeID {
	var rest []env.NodeID
	for _, id := range nodes {
		if !contains(less, id) {
			rest = append(rest, id)
		}
	}
	return rest
}

func contains(nodes []env.NodeID, id env.NodeID) bool {
	for _, n := range nodes {
		if n == id {
			return true
		}
	}
	return false
}

var _ = declare(135, Kind{
	Name: "isolated-primary",
	About: "a primary is cut off from the other members of its set, while all other links work: " +
		"what it writes, and may base answers on, never reaches a majority and is rolled back",
	Aim: AtNode,
	inject: func(c *Case) (repair func()) {
		var repairs []func()
		for _, id := range c.Target {
			rest := without(c.driver.roles.resolve(setOf(id)+".*", c.driver.nodes), c.Target)
			repairs = append(repairs, c.world.Partition([]env.NodeID{id}, rest, true))
		}
		return all(repairs)
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{Target: d.one("primary", "config.primary", "config.primary",
			"donor.primary", "recipient.primary"), For: d.span("cut")}
		switch f.Target {
		case "config.primary":
			f.When = d.anchored(failpoint.Config)
		case "donor.primary":
			f.When = d.anchored(failpoint.Donor, failpoint.Recovery, failpoint.RangeDeleter)
		default:
			f.When = d.anchored(failpoint.Recipient, failpoint.Session)
		}
		return f
	},
})

var _ = declare(130, Kind{
	Name: "partial-partition",
	About: "two sides cannot reach each other, or one cannot reach the other, while both reach " +
		"everyone else",
	Aim:  AtLink,
	Args: []Arg{wordArg("direction", "both, or forward for from>to only", "both", "forward")},
	inject: func(c *Case) (repair func()) {
		from, to := c.ends()
		return c.world.Partition(from, without(to, from), c.text("direction") == "both")
	},
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When: d.anchored(migration...),
			Target: d.one("link", "donor.primary>recipient.primary", "donor.primary>config.*",
				"recipient.primary>config.*", "donor.primary>donor.secondary"),
			For:  d.span("cut"),
			Args: []scenario.Setting{setting("direction", d.one("direction", "both", "forward"))},
		}
	},
})
