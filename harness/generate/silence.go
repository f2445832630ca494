package generate

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
func keepSilent(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || !own.Chance("silence", silenceShare) {
		return
	}
	questions := faults.Questions(s)
	for i := range 1 + own.IntN("how many", 2) {
		each := own.Fork(uint64(i))
		s.Faults = append(s.Faults, scenario.Fault{
			ID:     len(s.Faults) + 1,
			Kind:   keyed.Pick(each, "kind", "lost-request", "lost-request", "lost-reply"),
			Target: "*>*",
			When:   scenario.Trigger{At: time.Duration(each.IntN("from", int(p.size.span)))},
			Args: []scenario.Setting{
				{Name: "messages", Value: keyed.Pick(each, "question", questions...)},
				{Name: "count", Value: strconv.Itoa(1 + each.IntN("count", 6))},
			},
			For: p.size.span / 2,
		})
	}
}

// lockShare is how many percent of the seeds with faults of several kinds have donors that do not
// get their locks in time.
const lockShare = 8

// keepLocks has donors wait for the lock under which they block writes, some of them for longer
// than they may by default.
func keepLocks(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || !own.Chance("locks", lockShare) {
		return
	}
	s.Faults = append(s.Faults, scenario.Fault{
		ID: len(s.Faults) + 1, Kind: "pause",
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
func slowCommits(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || !own.Chance("slow", slowShare) {
		return
	}
	if own.IntN("short", 3) > 0 {
		s.Set(scenario.Setting{Name: "defaultConfigCommandTimeoutMS", Value: "150ms"})
		s.Set(scenario.Setting{Name: "sim.disk.syncLatency", Value: "1ms"})
	}
	s.Faults = append(s.Faults, scenario.Fault{
		ID: len(s.Faults) + 1, Kind: "slow-disk", Target: "recipient.*",
		When: scenario.Trigger{
			Site: failpoint.DonorSendCommit.String(), Nth: 1 + own.IntN("pass", 3),
		},
		For: time.Duration(300+own.IntN("for", 900)) * time.Millisecond,
		Args: []scenario.Setting{
			{Name: "factor", Value: keyed.Pick(own, "factor", "40", "60", "80", "120", "1000")},
		},
	})
}
