package aimed

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// lateCommitShare is how many percent of the seeds with faults of several kinds have the commit of
// a migration come when the donor's next primary has given it up; in 4.2, where nothing fences it,
// twice as many.
const lateCommitShare = 12

// restsOnFailure is where something begins that relies on the failure of a migration: what has
// arrived is deleted, or the range is about to be received again. In 4.2 both are at one site.
var restsOnFailure = []failpoint.Site{
	failpoint.RecipientTaskBefore, failpoint.RangeBatchBefore, failpoint.DonorAbortBumpTxn,
}

// commitLate deposes a donor that has sent its commit, and holds the commit up until something has
// begun that relies on the failure of the migration. Deletions are slow, so that the commit comes
// in the middle of one, and chunks are split meanwhile, so that shards learn of it.
func commitLate(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	share := lateCommitShare
	if s.Protocol == "4.2" {
		share *= 2
	}
	if len(s.Migrations) == 0 || s.Topology.Members < 2 ||
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
	holdCommit(own, s, sent, scenario.Trigger{
		Site: until.String(), Nth: 1, After: time.Duration(own.IntN("after", 80)) * time.Millisecond,
	})
	goOn(own, s, span)
}

// holdCommit deposes a donor that sends its commit, and holds that until something has happened.
func holdCommit(own keyed.Source, s *scenario.Scenario, sent, until scenario.Trigger) {
	deposed := sent
	deposed.After = time.Duration(1+own.IntN("deposed", 4)) * time.Millisecond
	s.AddFaults(scenario.Fault{
		Kind: "hold", Target: "donor.*>config.*", When: sent, Until: &until,
		Args: []scenario.Setting{
			{Name: "messages", Value: "CommitChunkMigration"}, {Name: "count", Value: "1"},
		},
	}, scenario.Fault{
		Kind: "stepdown", Target: "donor.primary", When: deposed,
	})
}

// goOn has ranges cleaned up, moved again and split while the outcome of a migration is open.
func goOn(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	m := s.Migrations[own.IntN("which", len(s.Migrations))]
	c := s.Sharded(m.NS)
	for i := range 6 {
		each := own.Fork(uint64(i))
		at := m.At + time.Duration(each.IntN("at", int(span/2)))
		switch {
		case each.Chance("again", 25):
			again := m
			again.ID, again.At = s.NextMigration(), at
			s.Migrations = append(s.Migrations, again)
		case s.Protocol == "4.2" && each.Chance("cleaned up", 10):
			s.Commands = append(s.Commands, scenario.Command{
				At: at, Do: commandkind.CleanupOrphaned, Name: m.NS,
			})
		}
		if c != nil && each.Chance("cut", 35) { // a chunk that was split is not committed any more
			s.Commands = append(s.Commands, scenario.Command{
				At: at + time.Duration(each.IntN("cut at", 100))*time.Millisecond,
				Do: commandkind.SplitChunk, Name: m.NS, Min: c.Bound(each.IntN("key", c.Keys)),
			})
		}
	}
	s.SortCommands()
}

// outlivedShare is how many percent of the seeds with faults of several kinds have a commit come
// when the collection has been dropped and made again.
const outlivedShare = 16

// commitToAnother has the first migration of a run deposed as it sends its commit, which comes when
// the name stands for another collection: in 4.2 only its identity tells the two apart.
func commitToAnother(own keyed.Source, s *scenario.Scenario) {
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
		return !c.Unsharded && !c.Absent && c.IDs == 0
	})
	if i < 0 || s.Balancer || s.Topology.Shards < 2 || s.Topology.Members < 2 ||
		!own.Chance("outlived", outlivedShare) {
		return
	}
	c := &s.Collections[i]
	if c.Made == "" {
		c.Made = scenario.MadeDealt
	}
	m := scenario.Migration{
		ID: s.NextMigration(), NS: c.NS, Min: scenario.MinKey, Max: scenario.MaxKey, To: 1,
		At: time.Duration(5+own.IntN("at", 25)) * time.Millisecond,
	}
	if len(c.Bounds) > 0 {
		m.Max = c.Bounds[0]
	}
	s.Migrations = append(s.Migrations, m)
	client, next := own.IntN("client", s.Topology.Clients), len(s.Ops)+1
	dropped := m.At + time.Duration(10+own.IntN("dropped", 150))*time.Millisecond
	s.Ops = append(s.Ops,
		scenario.Op{ID: next, At: dropped, Client: client, NS: c.NS, Kind: scenario.Drop},
		scenario.Op{
			ID: next + 1, Client: client, NS: c.NS, Kind: scenario.Create,
			At: dropped + time.Duration(own.IntN("made", 200))*time.Millisecond,
		})
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	holdCommit(own, s, scenario.Trigger{Site: failpoint.DonorSendConfig.String(), Nth: 1},
		scenario.Trigger{ // the second operation on a whole collection has changed the catalog
			Site: failpoint.ConfigDDLCatalog.String(), Nth: 2,
			After: time.Duration(2+own.IntN("after", 200)) * time.Millisecond,
		})
}
