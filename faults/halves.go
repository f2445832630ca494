package faults

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

var halves = declare(145, Kind{
	Name: "halves",
	About: "the network splits in two: one side has all members of a replica set, one secondary " +
		"of every other set and every second router; the other side has the rest",
	Aim: AtNode,
	Args: []Arg{
		numberArg("failovers",
			"how many times the primary of that replica set crashes during the split, first at once",
			0, 5, 0),
		durationArg("every", "how long after a crash the next one comes", "600ms"),
	},
	inject: injectHalves,
	draw: func(d *Draw) scenario.Fault {
		failovers := d.n("failovers", 4)
		every := d.between("every", 200*time.Millisecond, 1200*time.Millisecond)
		apart := d.between("apart", 300*time.Millisecond, 2500*time.Millisecond)
		f := scenario.Fault{
			Target: d.one("set", "donor.*", "donor.*", "donor.*", "recipient.*", "config.*"),
			For:    time.Duration(failovers)*every + apart,
			Args:   []scenario.Setting{setting("failovers", failovers), setting("every", every)},
		}
		if d.n("decided", 2) == 0 {
			sites := decided
			if len(d.Whole) > 0 {
				sites = append(slices.Clone(sites), failpoint.ConfigDDLStep)
			}
			site := sites[d.n("decision", len(sites))]
			f.When = scenario.Trigger{
				Site: site.String(),
				Nth:  1 + d.n("which", d.passes(site.Role())),
			}
		} else {
			f.When = d.anchored(migration...)
		}
		return f
	},
})

// ReplacesPrimaries reports whether the fault divides the cluster for long enough that a replica
// set has several primaries one after the other: repaired earlier, it is another fault.
func ReplacesPrimaries(f scenario.Fault) bool {
	return f.Kind == halves.Name && slices.ContainsFunc(f.Args, func(a scenario.Setting) bool {
		return a.Name == "failovers" && a.Value > "1"
	})
}

// decided is where one side knows of something that the other has not been told.
var decided = []failpoint.Site{
	failpoint.ConfigCommitMajority, failpoint.ConfigCommitReply, failpoint.DonorConfigReply,
}

// injectHalves gives the target's side complete sets of nobody but the target: it can ask all, of
// the others only members that are behind, and it can write for itself. Who has led the target
// again and again, and been replaced, has forgotten what it could not tell anybody.
func injectHalves(c *Case) (repair func()) {
	if len(c.Target) == 0 {
		return nil
	}
	d, set := c.driver, setOf(c.Target[0])
	side := d.half(c.Target)
	heal := c.world.Partition(side, without(c.world.Nodes(), side), true)
	at, every := c.world.Now(), c.duration("every")
	for range c.number("failovers") {
		c.unlessDone(at, func() {
			if leader := d.roles.leader[set]; leader != "" {
				d.crashFor(leader, defaultDowntime)
			}
		})
		at = at.Add(every)
	}
	return heal
}

// routers is what the names of routers begin with, as if they were members of a set.
const routers = "router"

// half is who is on the side of a replica set.
func (d *Driver) half(target []env.NodeID) []env.NodeID {
	side := slices.Clone(target)
	var seen []string
	for _, id := range d.nodes {
		set := setOf(id)
		if set == setOf(target[0]) || slices.Contains(seen, set) {
			continue
		}
		seen = append(seen, set)
		if set != routers {
			side = append(side, d.roles.members(set, d.nodes, 1)...)
			continue
		}
		for i, router := range d.roles.members(set, d.nodes, len(d.nodes)) {
			if i%2 == 0 {
				side = append(side, router)
			}
		}
	}
	return side
}
