package aimed

import (
	"slices"
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
// node has lost the lead, or fail: any command, so that those that come once are met as well as
// those that come all the time.
func holdTasks(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	if !own.Chance("tasks", taskShare) {
		return
	}
	requests := faults.Requests(s)
	for i := range 1 + own.IntN("how many", 5) {
		each := own.Fork(uint64(i))
		task := keyed.Pick(each, "task", requests...)
		f := scenario.Fault{
			Kind: "pause", Target: "*",
			When: scenario.Trigger{At: time.Duration(each.IntN("from", int(span)))},
			Args: []scenario.Setting{
				{Name: "task", Value: task},
				{Name: "passes", Value: strconv.Itoa(each.IntN("passes", 8))},
			},
		}
		switch each.IntN("ending", 100) / 20 {
		case 0:
			failTask(each, &f, task)
		case 1:
			f.Kind = "stale-task"
			f.Args = append(f.Args, scenario.Setting{Name: "party", Value: "self"}, scenario.Setting{
				Name: "ending", Value: keyed.Pick(each, "deposed by", "cut", "again", "stepdown"),
			})
			fallthrough
		default:
			f.For = time.Duration(20+each.IntN("for", 1000)) * time.Millisecond
		}
		s.AddFaults(f)
	}
}

// cursorShare is how many percent of the seeds with faults of several kinds have cursors of shards
// stand still as they answer.
const cursorShare = 15

// stallCursors has shards answer late when the next documents of a query are asked for. Meanwhile
// the time limits of the cursor and of its client pass, and what it reads is moved and deleted.
func stallCursors(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	batched := slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
		return o.Kind == scenario.Scan && o.Batch > 0
	})
	if !batched || !own.Chance("cursors", cursorShare) {
		return
	}
	for i := range 2 + own.IntN("how many", 4) {
		each := own.Fork(uint64(i))
		s.AddFaults(scenario.Fault{
			Kind:   "pause",
			Target: scenario.ShardName(each.IntN("shard", s.Topology.Shards)) + ".*",
			When:   scenario.Trigger{At: time.Duration(each.IntN("from", int(span)))},
			Args: []scenario.Setting{
				{Name: "task", Value: "GetMore"},
				{Name: "passes", Value: strconv.Itoa(each.IntN("passes", 6))},
			},
			For: time.Duration(50+each.IntN("for", 1500)) * time.Millisecond,
		})
	}
}

// failTask has the task end where it would stand still: its caller may try again, and what it has
// done so far must be as if it had not begun, or be carried on. What may not be doubled is a
// request of a client, to which any error but that it was killed would be a lie of the server.
func failTask(own keyed.Source, f *scenario.Fault, task string) {
	if !faults.MayDouble(task) {
		f.Kind = "kill-operation"
		return
	}
	f.Kind = "error"
	f.Args = append(f.Args, failsWith(own)...)
}

// failsWith is the error of a step that fails.
func failsWith(own keyed.Source) []scenario.Setting {
	return []scenario.Setting{{Name: "code", Value: keyed.Pick(own, "code",
		"NetworkTimeout", "HostUnreachable", "FailPointEnabled", "ExceededTimeLimit", "Interrupted",
		"WriteConcernFailed")}}
}
