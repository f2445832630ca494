package aimed

import (
	"strconv"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// outliveShare is how many percent of the seeds with faults of several kinds have requests that
	// outlive the term of their primary, and then that of another member.
	outliveShare = 15
	// lookedUp is at how many failpoints, not counting its first, a write has looked up whether it
	// was executed before, and has not been executed yet.
	lookedUp = 3
)

// outlived are commands of clients; those whose second execution would be seen are there more
// often.
var outlived = []string{
	"FindAndModify", "FindAndModify", "FindAndModify", "Update", "Update", "Update", "Insert",
	"Delete",
}

// outliveTerms has requests stand still on a primary until the same member leads again: in the
// meantime another one has led for long enough to carry out the next attempt of the client, which
// is impatient. The request must then not rely on what it looked up before.
func outliveTerms(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	if !own.Chance("reigns", outliveShare) {
		return
	}
	s.Set(scenario.Setting{
		Name: "socketTimeoutMS", Value: keyed.Pick(own, "impatient", "60ms", "100ms"),
	})
	requests := faults.Requests(s)
	for i := range 4 + own.IntN("how many", 4) {
		each := own.Fork(uint64(i))
		task, passes := keyed.Pick(each, "write", outlived...), 1+each.IntN("step", lookedUp)
		if each.Chance("any request", 20) {
			task, passes = keyed.Pick(each, "request", requests...), each.IntN("passes", 8)
		}
		apart := time.Duration(200+each.IntN("apart", 300)) * time.Millisecond
		leads := scenario.ShardName(each.IntN("shard", s.Topology.Shards)) + ".primary"
		s.AddFaults(scenario.Fault{
			Kind: "stale-task", Target: leads,
			When: scenario.Trigger{At: time.Duration(each.IntN("from", int(span)))},
			Args: []scenario.Setting{
				{Name: "task", Value: task},
				{Name: "passes", Value: strconv.Itoa(passes)},
				{Name: "party", Value: "self"}, {Name: "ending", Value: "again"},
				{Name: "deposed", Value: strconv.Itoa(int(apart / time.Millisecond))},
			},
			For: apart + time.Duration(200+each.IntN("stands", 600))*time.Millisecond,
		})
	}
}

// undoneShare is the percentage of seeds with operations on whole collections in which steps of
// these operations are undone while shards take them.
const undoneShare = 20

// undoSteps deposes the primary of a shard once it has taken a step of an operation on a whole
// collection, while no other member has what it wrote, and has it elected again before the request
// is given up. The primary must not answer then that it has taken the step.
func undoSteps(own keyed.Source, s *scenario.Scenario) {
	whole := len(s.WholeTimes())
	if whole == 0 || s.Topology.Members < 3 || !own.Chance("undone", undoneShare) {
		return
	}
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		s.AddFaults(scenario.Fault{
			Kind: "stale-task",
			When: scenario.Trigger{
				Site: failpoint.RequestDDLApplied.String(), Nth: 1 + each.IntN("step", 12*whole),
			},
			Args: []scenario.Setting{
				{Name: "party", Value: "self"}, {Name: "ending", Value: "again"},
				{Name: "deposed", Value: keyed.Pick(each, "deposed", "0", "0", "50")},
			},
			For: time.Duration(300+each.IntN("stands", 500)) * time.Millisecond,
		})
	}
}
