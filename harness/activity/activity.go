// Package activity divides what the sharded store does into activities: serving requests, each part
// of a migration, each recovery, range deletion, operations on collections, the balancer, and so
// on. Each is a group of failpoint sites and a script that passes through them.
//
// Promise: every site of the store belongs to exactly one activity. A script is a small scenario
// that runs by itself, and several can be laid over each other: they share one cluster, one
// collection and its first ranges.
//
// Refusal: nothing is held or broken here; what two activities do to each other is for those who
// run them.
package activity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Activity is one thing that a store does.
type Activity struct {
	Name, About string
	// sites are beginnings of the names of its failpoint sites; of all that fit, the longest says
	// whose a site is.
	sites []string
	// script are its lines in a scenario.
	script string
}

// System is the target whose activities these are.
const System = "shardstore"

var catalog []*Activity

// declare adds an activity. It is called from package-level variables only.
func declare(a Activity) *Activity {
	catalog = append(catalog, &a)
	return &a
}

// All lists every activity.
func All() []*Activity { return catalog }

// Names lists the activities by name.
func Names() (names []string) {
	for _, a := range catalog {
		names = append(names, a.Name)
	}
	return names
}

// Find returns the activity of that name, or an error that names the nearest ones.
func Find(name string) (*Activity, error) {
	for _, a := range catalog {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, suggest.Unknown("activity", name, Names(), "activities")
}

// Of is the activity that a site belongs to; nil for one that belongs to none.
func Of(site string) (of *Activity) {
	longest := -1
	for _, a := range catalog {
		for _, beginning := range a.sites {
			if len(beginning) > longest && strings.HasPrefix(site, beginning) {
				longest, of = len(beginning), a
			}
		}
	}
	return of
}

// Sites are the names of the activity's sites.
func (a *Activity) Sites() (names []string) {
	for _, in := range failpoint.All() {
		if Of(in.Name) == a {
			names = append(names, in.Name)
		}
	}
	return names
}

// Scenario is the script by itself, in the version of the protocol; empty for the newest. In 4.2,
// which loses what is written to an unsharded collection while its primary moves (protocol 15), no
// client uses one.
func (a *Activity) Scenario(protocol string) *scenario.Scenario {
	s, err := scenario.Parse("the script of "+a.Name, frame+a.script)
	if err != nil {
		panic(fmt.Sprintf("activity: %v", err))
	}
	s.Name, s.Protocol = a.Name, protocol
	if protocol == "4.2" {
		s.Ops = slices.DeleteFunc(s.Ops, func(o scenario.Op) bool { return o.NS == unsharded })
	}
	return s
}
