package activity

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// beginWithin is when the last script of a drawn scenario begins at the latest.
	beginWithin = 250 * time.Millisecond
	// Span is how long the scripts of a drawn scenario take together.
	Span = beginWithin + 300*time.Millisecond
)

// Draw lays the scripts of some activities over each other, each begun at a time of its own, and
// adds faults at their sites. It is a pure function of its arguments.
func Draw(d keyed.Source, protocol string) *scenario.Scenario {
	some := drawActivities(d)
	s := some[0].Scenario(protocol)
	for n, a := range some[1:] {
		at := d.IntN(fmt.Sprintf("begins/%d", n), int(beginWithin/time.Millisecond))
		overlay(s, a, time.Duration(at)*time.Millisecond, n+1)
	}
	s.Planned = false
	for i := range s.Ops {
		s.Ops[i].ID = i + 1 // 4.2 leaves some out
	}
	s.Topology.Clients = len(some) * clientsEach
	behind := 0
	for _, f := range s.Faults {
		behind = max(behind, f.ID)
	}
	for n := range d.IntN("faults", 4) {
		own := d.Fork(uint64(n))
		s.Faults = append(s.Faults, atSite(own, behind+n+1, some[own.IntN("whose", len(some))]))
	}
	return s
}

// drawActivities draws two to four activities, or fewer when one is drawn more than once.
func drawActivities(d keyed.Source) (some []*Activity) {
	for n := range keyed.Pick(d, "activities", 2, 2, 3, 4) {
		a := catalog[d.IntN(fmt.Sprintf("activity/%d", n), len(catalog))]
		if !slices.Contains(some, a) {
			some = append(some, a)
		}
	}
	return some
}

// faultsAtSites are the faults that happen where a site is passed, and whether they last.
var faultsAtSites = []struct {
	kind           string
	lasts, targets bool
}{
	{kind: "pause", lasts: true}, {kind: "pause", lasts: true}, {kind: "error"},
	{kind: "kill-operation"}, {kind: "crash", lasts: true, targets: true},
	{kind: "partition", lasts: true, targets: true}, {kind: "stepdown", targets: true},
}

// atSite is a fault at one of the first passes of a site of the activity.
func atSite(own keyed.Source, id int, a *Activity) scenario.Fault {
	sites := sitesOf(a)
	of := faultsAtSites[own.IntN("kind", len(faultsAtSites))]
	f := scenario.Fault{ID: id, Kind: of.kind, When: scenario.Trigger{
		Site: sites[own.IntN("site", len(sites))],
		Nth:  keyed.Pick(own, "pass", 1, 1, 1, 2, 3, 5),
	}}
	if of.lasts {
		f.For = time.Duration(keyed.Pick(own, "for", 5, 30, 100, 300, 700, 1500)) * time.Millisecond
	}
	if of.targets {
		f.Target = keyed.Pick(own, "target", "shard-a", "shard-b", "shard-c", "config") + ".primary"
	}
	return f
}

// sitesOf are the names of an activity's sites.
func sitesOf(a *Activity) (names []string) {
	for _, in := range failpoint.All() {
		if Of(in.Name) == a {
			names = append(names, in.Name)
		}
	}
	return names
}
