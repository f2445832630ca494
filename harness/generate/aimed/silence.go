package aimed

import (
	"strconv"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// silenceShare is how many percent of the seeds with faults of several kinds have questions of
// servers that stay without an answer.
const silenceShare = 30

// keepSilent has requests between servers go unanswered that no other fault names: no server may
// take silence for one of the answers.
func keepSilent(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	if !own.Chance("silence", silenceShare) {
		return
	}
	questions := faults.Questions(s)
	for i := range 1 + own.IntN("how many", 2) {
		each := own.Fork(uint64(i))
		s.AddFaults(scenario.Fault{
			Kind:   keyed.Pick(each, "kind", "lost-request", "lost-request", "lost-reply"),
			Target: "*>*",
			When:   scenario.Trigger{At: time.Duration(each.IntN("from", int(span)))},
			Args: []scenario.Setting{
				{Name: "messages", Value: keyed.Pick(each, "question", questions...)},
				{Name: "count", Value: strconv.Itoa(1 + each.IntN("count", 6))},
			},
			For: span / 2,
		})
	}
}

// lockShare is how many percent of the seeds with faults of several kinds have donors that do not
// get their locks in time.
const lockShare = 8

// keepLocks has donors wait for the lock under which they block writes, some of them for longer
// than they may by default.
func keepLocks(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("locks", lockShare) {
		return
	}
	s.AddFaults(scenario.Fault{
		Kind: "pause",
		When: scenario.Trigger{
			Site: failpoint.DonorLockAcquire.String(), Nth: 1 + own.IntN("pass", 3),
		},
		For: time.Duration(300+own.IntN("for", 700)) * time.Millisecond,
	})
}

// slowShare is how many percent of the seeds with faults of several kinds have recipients that are
// slow to commit.
const slowShare = 8

// slowCommits slows the disks of all members of a recipient down as it is asked to commit, so that
// it takes longer than its limits, in most of the seeds short ones.
func slowCommits(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("slow", slowShare) {
		return
	}
	if own.IntN("short", 3) > 0 {
		s.Set(scenario.Setting{Name: "defaultConfigCommandTimeoutMS", Value: "150ms"})
		s.Set(scenario.Setting{Name: "sim.disk.syncLatency", Value: "1ms"})
	}
	s.AddFaults(scenario.Fault{
		Kind: "slow-disk", Target: "recipient.*",
		When: scenario.Trigger{
			Site: failpoint.DonorSendCommit.String(), Nth: 1 + own.IntN("pass", 3),
		},
		For: time.Duration(300+own.IntN("for", 900)) * time.Millisecond,
		Args: []scenario.Setting{
			{Name: "factor", Value: keyed.Pick(own, "factor", "40", "60", "80", "120", "1000")},
		},
	})
}

// taskShare is how many percent of the seeds with faults of several kinds have tasks held up by the
// command that they carry out.
const taskShare = 35

// holdTasks has tasks that carry out a command stand still for a while, some of them until their
// node has lost the lead: any command, so that those that come once are met as well as those that
// come all the time.
func holdTasks(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	if !own.Chance("tasks", taskShare) {
		return
	}
	requests := faults.Requests(s)
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		f := scenario.Fault{
			Kind: "pause", Target: "*",
			When: scenario.Trigger{At: time.Duration(each.IntN("from", int(span)))},
			Args: []scenario.Setting{
				{Name: "task", Value: keyed.Pick(each, "task", requests...)},
				{Name: "passes", Value: strconv.Itoa(each.IntN("passes", 8))},
			},
			For: time.Duration(20+each.IntN("for", 1000)) * time.Millisecond,
		}
		if each.Chance("deposed", 25) {
			f.Kind = "stale-task"
			f.Args = append(f.Args, scenario.Setting{Name: "party", Value: "self"}, scenario.Setting{
				Name: "ending", Value: keyed.Pick(each, "ending", "cut", "again", "stepdown"),
			})
		}
		s.AddFaults(f)
	}
}
