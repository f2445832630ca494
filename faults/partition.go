package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
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
