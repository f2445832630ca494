package aimed

import (
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// recurringShare is how many percent of the seeds with faults of several kinds have one failpoint
// at which the same happens again and again.
const recurringShare = 25

// recur has tasks stand still or fail at one failpoint, on several of its passes: what goes wrong
// there only in a rare state of the cluster meets that state sooner, and a task that tries again
// fails again. Each failpoint is as likely as any other, however often runs pass it. Requests of
// clients do not fail, as clients would be told of errors that no server sends.
func recur(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("recurs", recurringShare) {
		return
	}
	site := keyed.Choose(own.IntN, "failpoint", failpoint.Catalog(), recurringAt)
	like := scenario.Fault{Kind: keyed.Pick(own, "kind", "pause", "pause", "error", "error",
		"kill-operation")}
	if isClients(site.Role) {
		like.Kind = keyed.Pick(own, "kind of a request", "pause", "pause", "kill-operation")
	}
	if like.Kind == "error" {
		like.Args = failsWith(own)
	}
	times := 3 + own.IntN("times", 5)
	spread := max(2*times, 2*faults.PassesARun(site.Site))
	for i := range times {
		each, f := own.Fork(uint64(i)), like
		f.When = scenario.Trigger{Site: site.Name, Nth: 1 + each.IntN("pass", spread)}
		if f.Kind == "pause" {
			f.For = time.Duration(1+each.IntN("for", recurringFor)) * time.Millisecond
		}
		s.AddFaults(f)
	}
}

// recurringFor is for how many milliseconds a task stands still at most.
const recurringFor = 600

// recurringAt leaves out what another system announces, and what runs pass too seldom.
func recurringAt(in failpoint.Info) (name string, weight int) {
	if in.System == "" && faults.PassesIn1000(in.Site) >= 200 {
		weight = 1
	}
	return in.Name, weight
}

// isClients says that what passes a failpoint of the role may be a request of a client.
func isClients(r failpoint.Role) bool {
	return r == failpoint.Request || r == failpoint.Router
}
