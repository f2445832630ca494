package shrink

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
)

// smallerCluster makes the cluster smaller: one client for everything or as many as do something,
// then all sorts of nodes to one and by one.
func smallerCluster(s *scenario.Scenario) []edit {
	all := []edit{
		func(s *scenario.Scenario) { renumberClients(s, func(scenario.Op) int { return 0 }) },
		func(s *scenario.Scenario) {
			renumberClients(s, func(o scenario.Op) int { return o.Client })
		},
		func(s *scenario.Scenario) {
			for n := 1; n < s.Topology.Routers; n++ {
				renameNode(s, fmt.Sprintf("router.%d", n), "router.0")
			}
			s.Topology.Routers = 1
		},
		oneMember, oneConfigMember,
	}
	for _, of := range []func(*scenario.Topology) *int{
		func(t *scenario.Topology) *int { return &t.Routers },
		func(t *scenario.Topology) *int { return &t.ConfigMembers },
		func(t *scenario.Topology) *int { return &t.Members },
		func(t *scenario.Topology) *int { return &t.Shards },
	} {
		for n := 1; n < *of(&s.Topology); n++ {
			all = append(all, func(s *scenario.Scenario) {
				*of(&s.Topology) = n
				clampShards(s)
			})
		}
	}
	return all
}

// MakeTiny has one member in every replica set.
func MakeTiny(s *scenario.Scenario) {
	oneMember(s)
	oneConfigMember(s)
}

// tinyCluster makes the cluster as small as can be, in a few steps, and has everything start at
// once.
func tinyCluster(s *scenario.Scenario) []edit {
	two := func(s *scenario.Scenario) {
		s.Topology.Shards = min(s.Topology.Shards, 2)
		clampShards(s)
	}
	return append([]edit{
		func(s *scenario.Scenario) { MakeTiny(s); two(s) },
		MakeTiny,
		oneMember, oneConfigMember, two,
		func(s *scenario.Scenario) { renumberClients(s, func(scenario.Op) int { return 0 }) },
	}, earlierTogether(s)[:2]...)
}

// oneMember has what happens to a member of a shard happen to the only one.
func oneMember(s *scenario.Scenario) {
	s.Topology.Members = 1
	mergeMembers(s, "shard-")
}

// oneConfigMember does the same for the config server.
func oneConfigMember(s *scenario.Scenario) {
	s.Topology.ConfigMembers = 1
	mergeMembers(s, "config")
}

// renumberClients has each operation done by the client that by says, and numbers those that are
// left from 0.
func renumberClients(s *scenario.Scenario, by func(scenario.Op) int) {
	var used []int
	for _, o := range s.Ops {
		if !slices.Contains(used, by(o)) {
			used = append(used, by(o))
		}
	}
	slices.Sort(used)
	for i := range s.Ops {
		o := &s.Ops[i]
		n := slices.Index(used, by(*o))
		if n != o.Client {
			renameNode(s, fmt.Sprintf("client.%d", o.Client), fmt.Sprintf("client.%d", n))
		}
		o.Client = n
	}
	s.Topology.Clients = max(len(used), 1)
}

// renameNode has what was decided about one node decided about another.
func renameNode(s *scenario.Scenario, from, to string) {
	renameNodes(s, func(node string) string {
		if node == from {
			return to
		}
		return node
	})
}

// renameNodes has what decisions and faults say of a node said of another. Roles are no nodes, and
// stay.
func renameNodes(s *scenario.Scenario, to func(node string) string) {
	link := func(text string) string {
		sender, receiver, isLink := strings.Cut(text, ">")
		if !isLink {
			return to(text)
		}
		return to(sender) + ">" + to(receiver)
	}
	for i := range s.Decisions {
		site := &s.Decisions[i].Site
		if where, class, ok := strings.Cut(*site, "/"); ok {
			*site = link(where) + "/" + class
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		f.Target, f.When.Node = link(f.Target), to(f.When.Node)
		if f.Until != nil {
			f.Until.Node = to(f.Until.Node)
		}
	}
}

// mergeMembers has what happens to any member of the replica sets with that beginning happen to the
// first.
func mergeMembers(s *scenario.Scenario, set string) {
	renameNodes(s, func(node string) string {
		name, number, ok := strings.Cut(node, ".")
		if _, err := strconv.Atoi(number); !ok || err != nil || !strings.HasPrefix(name, set) {
			return node
		}
		return name + ".0"
	})
}

// clampShards has migrations go to, and commands be about, shards that are there.
func clampShards(s *scenario.Scenario) {
	s.Topology.Spare = min(s.Topology.Spare, s.Topology.Shards-1)
	last := scenario.ShardName(s.Topology.Shards - 1)
	for i := range s.Commands {
		if c := &s.Commands[i]; strings.HasPrefix(c.Name, "shard-") {
			c.Name = min(c.Name, last)
		}
	}
	for i := range s.Collections {
		s.Collections[i].Owners = min(s.Collections[i].Owners, s.Topology.Founders())
	}
	for i := range s.Migrations {
		s.Migrations[i].To = min(s.Migrations[i].To, s.Topology.Shards-1)
	}
	for i := range s.Primaries {
		s.Primaries[i].To = min(s.Primaries[i].To, s.Topology.Shards-1)
	}
}

// smallerCollections leaves out those that nobody uses, and of the others keys, documents and
// bounds.
func smallerCollections(s *scenario.Scenario) (all []edit) {
	for i, c := range s.Collections {
		change := func(do func(c *scenario.Collection)) {
			all = append(all, func(s *scenario.Scenario) { do(&s.Collections[i]) })
		}
		all = append(all, func(s *scenario.Scenario) {
			s.Collections = slices.Delete(s.Collections, i, i+1)
		})
		used := keysUsed(s, c.NS)
		change(func(c *scenario.Collection) { c.Keys, c.Preload = used, min(c.Preload, used) })
		for _, n := range []int{0, used, c.Preload / 2} {
			change(func(c *scenario.Collection) { c.Preload = min(c.Preload, n) })
		}
		change(func(c *scenario.Collection) { c.Owners = 0 })
		change(func(c *scenario.Collection) { c.Made, c.Initial = "", 0 })
		change(func(c *scenario.Collection) { c.Initial = 0 })
		if c.Unsharded {
			change(func(c *scenario.Collection) { c.By, c.Hashed = "", false })
		}
		change(func(c *scenario.Collection) { c.Share = 0 })
		change(func(c *scenario.Collection) { c.IDs = 0 })
		for j := range c.Bounds {
			change(func(c *scenario.Collection) { c.Bounds = slices.Delete(c.Bounds, j, j+1) })
		}
	}
	return all
}

// keysUsed is the least number of keys with which all operations are valid.
func keysUsed(s *scenario.Scenario, ns string) int {
	keys := 1
	for _, o := range s.Ops {
		if o.NS == ns {
			keys = max(keys, int(o.Key)+1, int(o.To))
		}
	}
	return keys
}

// calmSettings are the conditions under which whatever is ready first goes first and nothing is
// left to chance.
var calmSettings = []scenario.Setting{
	{Name: "sim.net.jitter", Value: "0s"},
	{Name: "sim.task.yieldsPerMillion", Value: "0"},
}

// firstCome takes the chance out of the schedule.
func firstCome(*scenario.Scenario) (all []edit) {
	for _, b := range calmSettings {
		all = append(all, func(s *scenario.Scenario) { putSetting(s, b) })
	}
	return all
}

// putSetting gives a setting a value.
func putSetting(s *scenario.Scenario, v scenario.Setting) {
	if slices.Contains(s.Settings, v) {
		return
	}
	s.Settings = slices.DeleteFunc(s.Settings, func(old scenario.Setting) bool {
		return old.Name == v.Name
	})
	s.Settings = append(s.Settings, v)
}

// settings are thinned out towards the defaults, but for those that take chance away and those that
// must stay.
func (x *search) settings() list {
	stays := func(v scenario.Setting) bool {
		return slices.Contains(calmSettings, v) || x.Fixed != nil && x.Fixed(v.Name)
	}
	return list{
		count: func(s *scenario.Scenario) int { return len(s.Settings) },
		remove: func(s *scenario.Scenario, from, to int) {
			kept := slices.DeleteFunc(slices.Clone(s.Settings[from:to]),
				func(v scenario.Setting) bool { return !stays(v) })
			s.Settings = slices.Replace(s.Settings, from, to, kept...)
		},
	}
}
