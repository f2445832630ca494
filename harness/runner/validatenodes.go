package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
)

// checkNodes says whether the nodes that a fault names are in the cluster. A role may be nobody's when the fault happens,
// and then nothing does; a node that there never is must be a mistake.
func checkNodes(t scenario.Topology, f *scenario.Fault) error {
	from, to, _ := strings.Cut(f.Target, ">")
	names := []string{from, to, f.When.Node}
	if f.Until != nil {
		names = append(names, f.Until.Node)
	}
	for _, name := range names {
		if name != "" && !named(t, name) {
			return fmt.Errorf("there is no node %s in the cluster of %s", name, t)
		}
	}
	return nil
}

// named says whether the cluster has a node or role of that name.
func named(t scenario.Topology, name string) bool {
	set, member, _ := strings.Cut(name, ".")
	if set == "*" || set == "donor" || set == "recipient" {
		return true
	}
	size := map[string]int{"config": t.ConfigMembers, "router": t.Routers, "client": t.Clients, "operator": 1}
	for n := range t.Shards {
		size[scenario.ShardName(n)] = t.Members
	}
	if slices.Contains([]string{"primary", "secondary", "*"}, member) {
		return size[set] > 0
	}
	for n := range size[set] {
		if member == fmt.Sprint(n) {
			return true
		}
	}
	return false
}
