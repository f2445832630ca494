package generate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// successorShare is how many percent of the seeds with faults of several kinds have a copy of an
// early message come to a recipient's next primary.
const successorShare = 12

// handingOver is where a donor has handed over and the config server does not know yet.
var handingOver = []failpoint.Site{
	failpoint.DonorAfterCommit, failpoint.DonorBlockReads, failpoint.DonorBuildCommit,
	failpoint.DonorSendConfig,
}

// meetSuccessors has messages come late to, or from before, a shard's next primary.
func meetSuccessors(d keyed.Source, s *scenario.Scenario, p Profile) {
	repeatToSuccessors(d.Fork(0x8c), s, p)
	commitLate(d.Fork(0xe1), s, p)
}

// repeatToSuccessors has a donor stand still when it has handed over, while its recipient gets a
// new primary, or has the same one in a new term; to that comes a copy of what the donor sent
// first.
func repeatToSuccessors(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || !own.Chance("to a successor", successorShare) {
		return
	}
	pass := 1 + own.IntN("pass", 3)
	site := handingOver[own.IntN("site", len(handingOver))].String()
	still := time.Duration(500+own.IntN("still", 1000)) * time.Millisecond
	s.Faults = append(s.Faults, scenario.Fault{
		ID: len(s.Faults) + 1, Kind: "duplicate", Target: "donor.*>recipient.*",
		When: scenario.Trigger{Site: failpoint.DonorSendStart.String(), Nth: pass},
		Args: []scenario.Setting{
			{Name: "messages", Value: keyed.Pick(own, "message", "RecvChunkStart", "RecvChunkStart",
				"RecvChunkCommit", "control")},
			{Name: "copy", Value: "held"},
		},
		Until: &scenario.Trigger{
			Site: site, Nth: 1, // after the start
			After: still * time.Duration(30+own.IntN("comes", 65)) / 100,
		},
	}, scenario.Fault{
		ID: len(s.Faults) + 2, Kind: "stale-task",
		When: scenario.Trigger{Site: site, Nth: pass}, For: still,
		Args: []scenario.Setting{
			{Name: "party", Value: "recipient.primary"},
			{Name: "ending", Value: keyed.Pick(own, "ending", "again", "again", "crash", "stepdown")},
		},
	})
}

// handOverShare is how many percent of the seeds with faults of one kind have primaries that hand
// over, and nothing else.
const handOverShare = 12

// handOverOnly has nothing happen in a scenario but that primaries hand over, one after the other,
// each when what the last has led to is long over: all of them must find successors.
func handOverOnly(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || !p.one || !own.Chance("hand-overs", handOverShare) {
		return
	}
	for _, k := range backgroundFaults {
		if k.name != "sim.task.stallDelay" {
			s.Set(scenario.Setting{Name: k.name, Value: "0"})
		}
	}
	s.Faults = nil
	at := 2 * time.Second
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		set := "config"
		if n := each.IntN("set", s.Topology.Shards+1); n < s.Topology.Shards {
			set = fmt.Sprintf("shard-%c", 'a'+n)
		}
		at += time.Duration(each.IntN("after", 1000)) * time.Millisecond
		s.Faults = append(s.Faults, scenario.Fault{
			ID: i + 1, Kind: "stepdown", Target: set + ".primary", When: scenario.Trigger{At: at},
		})
		at += 2500 * time.Millisecond
	}
	s.FaultsEnd = max(s.FaultsEnd, at)
}

// lateCommitShare is how many percent of the seeds with faults of several kinds have the commit of
// a migration come when the donor's next primary has given it up; in 4.2, where nothing fences it,
// twice as many.
const lateCommitShare = 12

// restsOnFailure is what goes on once a migration is given up: what has arrived is deleted, or the
// range is about to be received once more. In 4.2 that is one and the same.
var restsOnFailure = []failpoint.Site{
	failpoint.RecipientTaskBefore, failpoint.RangeBatchBefore, failpoint.DonorAbortBumpTxn,
}

// commitLate deposes a donor that has sent its commit, and holds that up until something goes on
// that rests on the failure of the migration. Deletions take their time, so that the commit comes
// in the middle of one, and chunks are split meanwhile, so that shards learn of it.
func commitLate(own keyed.Source, s *scenario.Scenario, p Profile) {
	share := lateCommitShare
	if s.Protocol == "4.2" {
		share *= 2
	}
	if p.size.faults == 0 || p.one || len(s.Migrations) == 0 || s.Topology.Members < 2 ||
		!own.Chance("late commits", share) {
		return
	}
	s.Set(
		scenario.Setting{Name: "rangeDeleterBatchSize", Value: "1"},
		scenario.Setting{
			Name:  "rangeDeleterBatchDelayMS",
			Value: keyed.Pick(own, "a document each", "5ms", "15ms", "40ms"),
		})
	until := restsOnFailure[own.IntN("until", len(restsOnFailure))]
	if s.Protocol == "4.2" {
		until = failpoint.RecipientNotePending
	}
	sent := scenario.Trigger{
		Site: failpoint.DonorSendConfig.String(), Nth: keyed.Pick(own, "pass", 1, 1, 2),
	}
	deposed := sent
	deposed.After = time.Duration(1+own.IntN("deposed", 4)) * time.Millisecond
	s.Faults = append(s.Faults, scenario.Fault{
		ID: len(s.Faults) + 1, Kind: "hold", Target: "donor.*>config.*", When: sent,
		Args: []scenario.Setting{
			{Name: "messages", Value: "CommitChunkMigration"}, {Name: "count", Value: "1"},
		},
		Until: &scenario.Trigger{
			Site: until.String(), Nth: 1,
			After: time.Duration(own.IntN("after", 80)) * time.Millisecond,
		},
	}, scenario.Fault{
		ID: len(s.Faults) + 2, Kind: "stepdown", Target: "donor.primary", When: deposed,
	})
	goOn(own, s, p)
}

// goOn has ranges cleaned up, moved once more and cut while the outcome of a migration is open.
func goOn(own keyed.Source, s *scenario.Scenario, p Profile) {
	m := s.Migrations[own.IntN("which", len(s.Migrations))]
	c := sharded(s, m.NS)
	for i := range 6 {
		each := own.Fork(uint64(i))
		at := m.At + time.Duration(each.IntN("at", int(p.size.span/2)))
		switch {
		case each.Chance("again", 25):
			again := m
			again.ID, again.At = nextMigration(s), at
			s.Migrations = append(s.Migrations, again)
		case s.Protocol == "4.2" && each.Chance("cleaned up", 10):
			s.Commands = append(s.Commands, scenario.Command{
				At: at, Do: commandkind.CleanupOrphaned, Name: m.NS,
			})
		}
		if c != nil && each.Chance("cut", 35) { // a chunk that is cut is not committed any more
			s.Commands = append(s.Commands, scenario.Command{
				At: at + time.Duration(each.IntN("cut at", 100))*time.Millisecond,
				Do: commandkind.SplitChunk, Name: m.NS, Min: boundOf(*c, each.IntN("key", c.Keys)),
			})
		}
	}
	sortCommands(s)
}

const (
	// reignShare is how many percent of the seeds with faults of several kinds have requests that
	// outlive the reign in which they began, and another one.
	reignShare = 15
	// lookedUp is at which failpoints of a write it knows whether it was executed before, and is not
	// executed yet, counted from 1; the first is before that.
	lookedUp = 3
)

// endWork ends what servers do for clients: with their process, or with their lead.
func endWork(d keyed.Source, s *scenario.Scenario, p Profile) {
	crashRouters(d.Fork(0x93), s, p)
	outliveReigns(d.Fork(0xe3), s, p)
}

// outlived are commands of clients, those more often of which a second execution shows.
var outlived = []string{
	"FindAndModify", "FindAndModify", "FindAndModify", "Update", "Update", "Update", "Insert",
	"Delete",
}

// outliveReigns has requests stand still on a primary until that leads again: in the meantime
// another member has led for long enough to carry out the next attempt of the client, which does
// not wait for long. What a request has looked up before, it must not go by now.
func outliveReigns(own keyed.Source, s *scenario.Scenario, p Profile) {
	if p.size.faults == 0 || p.one || !own.Chance("reigns", reignShare) {
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
		s.Faults = append(s.Faults, scenario.Fault{
			ID: len(s.Faults) + 1, Kind: "stale-task", Target: leads,
			When: scenario.Trigger{At: time.Duration(each.IntN("from", int(p.size.span)))},
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
