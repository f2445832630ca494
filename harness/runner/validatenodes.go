package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// checkNodes says whether the nodes that a fault names are in the cluster. A role may be nobody's
// when the fault happens, and then nothing does; a node that there never is must be a mistake.
func checkNodes(nodes []target.Node, size scenario.Topology, f *scenario.Fault) error {
	from, to, _ := strings.Cut(f.Target, ">")
	names := []string{from, to, f.When.Node}
	if f.Until != nil {
		names = append(names, f.Until.Node)
	}
	for _, name := range names {
		if name != "" && !named(nodes, size, name) {
			return fmt.Errorf("there is no node %s in the cluster of %s", name, size)
		}
	}
	return nil
}

// named says whether the cluster has a node or role of that name.
func named(nodes []target.Node, size scenario.Topology, name string) bool {
	set, member, _ := strings.Cut(name, ".")
	if set == "*" || set == "donor" || set == "recipient" {
		return true
	}
	others := map[string]int{"client": size.Clients, "operator": 1, "admin": 2}
	if others[set] > 0 {
		return slices.Contains(roles, member) || numberBelow(member, others[set])
	}
	return slices.ContainsFunc(nodes, func(n target.Node) bool {
		return string(n.ID) == name || n.Set == set && slices.Contains(roles, member)
	})
}

// roles are those of the members of a set that a fault can name.
var roles = []string{"primary", "secondary", "*"}

func numberBelow(text string, most int) bool {
	for n := range most {
		if text == fmt.Sprint(n) {
			return true
		}
	}
	return false
}
