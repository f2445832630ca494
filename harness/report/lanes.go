package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
)

// lane is a line of the picture: a client, a node, or a replica set, whose members follow it.
type lane struct {
	Name string `json:"name"`
	// Kind is client, router, set or member; Set is the replica set of a member.
	Kind string `json:"kind"`
	Set  string `json:"set,omitempty"`
}

// lanes are all lanes, from clients down to shards.
type lanes struct {
	all []lane
	at  map[string]int
}

func lanesOf(r *runner.Result) *lanes {
	l := &lanes{at: map[string]int{}}
	var clients []int
	for i := range r.History {
		if c := r.History[i].Client; c != histories.PreloadClient && !slices.Contains(clients, c) {
			clients = append(clients, c)
		}
	}
	slices.Sort(clients)
	for _, c := range clients {
		l.add(lane{Name: clientName(c), Kind: "client"})
	}
	sets := map[string][]string{}
	var names []string
	for i := range r.Events {
		node := r.Events[i].Node
		set := setOf(node)
		if node == "" || set == "client" || slices.Contains(sets[set], node) {
			continue
		}
		if sets[set] == nil {
			names = append(names, set)
		}
		sets[set] = append(sets[set], node)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(rankOf(a)+a, rankOf(b)+b)
	})
	for _, set := range names {
		l.addSet(set, sets[set])
	}
	return l
}

func (l *lanes) addSet(set string, members []string) {
	slices.Sort(members)
	kind := "router"
	switch {
	case strings.HasPrefix(set, streamReader):
		kind = "client"
	case set != "router":
		kind = "member"
		l.add(lane{Name: set, Kind: "set"})
	}
	for _, name := range members {
		l.add(lane{Name: name, Kind: kind, Set: set})
	}
}

func (l *lanes) add(one lane) {
	l.at[one.Name] = len(l.all)
	l.all = append(l.all, one)
}

// of is the position of the lane of that name, -1 for none.
func (l *lanes) of(name string) int {
	if i, ok := l.at[name]; ok {
		return i
	}
	return -1
}

func (l *lanes) client(n int) int { return l.of(clientName(n)) }

func clientName(n int) string { return fmt.Sprintf("client.%d", n) }

// streamReader is what the nodes are called that read change streams.
const streamReader = "stream-reader"

// rankOf sorts who asks, routers and the config server before shards.
func rankOf(set string) string {
	switch {
	case strings.HasPrefix(set, streamReader):
		return "0"
	case set == "router":
		return "1"
	case set == "config":
		return "2"
	}
	return "3"
}

// setOf is the replica set of a node, or what it is.
func setOf(node string) string {
	if i := strings.LastIndexByte(node, '.'); i >= 0 {
		return node[:i]
	}
	return node
}
