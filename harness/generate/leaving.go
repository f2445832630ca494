package generate

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/failpoint"
)

// leavingShare is how many percent of the seeds in which shards can be removed have one removed to
// which something is about to move.
const leavingShare = 40

// removeRecipients has shards removed when a primary or a range is about to move there, or does:
// they may agree to leave before the move is committed, and join again while what is left of it is
// cleaned up.
func removeRecipients(own keyed.Source, s *scenario.Scenario, p Profile) {
	if !s.Balancer || namesShards(s) {
		return
	}
	if n := len(s.Primaries); n > 0 && own.Chance("leaving", leavingShare) {
		m := &s.Primaries[own.IntN("move", n)]
		removeAbout(own.Fork(1), s, m.At, m.To)
		if p.size.faults > 0 && !p.one && own.Chance("unanswered", 50) {
			loseMovePrimary(own.Fork(4), s, m.At)
		}
		if p.size.faults > 0 && !p.one && own.Chance("interrupted", 50) {
			interruptMovePrimary(own.Fork(5), s)
		}
	}
	if n := len(s.Migrations); n > 0 && own.Chance("leaving too", leavingShare) {
		m := &s.Migrations[own.IntN("migration", n)]
		removeAbout(own.Fork(2), s, m.At, m.To)
		if p.size.faults > 0 && !p.one && s.Protocol == "4.2" && own.Chance("committed late", 60) {
			commitAfterRemoval(own.Fork(3), s, m.At)
		}
		if p.size.faults > 0 && !p.one && s.Protocol != "4.2" && own.Chance("out of reach", 40) {
			s.AddFaults(outOfReach(own))
		}
	}
}

const (
	// givenShare is how many percent of the scenarios of 4.2 with a shard that has nothing have
	// that one removed while it becomes the primary of a database.
	givenShare = 50
	// droppedNamespace is of the only collection that is not sharded, which is dropped at once: the
	// shard that its database moves to gets nothing else.
	droppedNamespace = "test.dropped"
)

// giveWhileLeaving has a shard that has nothing removed after a move of the database to it has
// begun, and has that commit when the shard has agreed to leave: in 4.2 a commit does not ask
// whether the shard drains, so the last look before the removal has to (protocol 15).
func giveWhileLeaving(own keyed.Source, s *scenario.Scenario, p Profile) {
	to := s.Topology.Shards - 1
	occupied := slices.ContainsFunc(s.Collections, func(c scenario.Collection) bool {
		return c.Unsharded || c.Owners == 0 || c.Owners > to
	})
	if s.Protocol != "4.2" || p.one || !s.Balancer || occupied || namesShards(s) ||
		!own.Chance("given", givenShare) {
		return
	}
	at := time.Duration(40+own.IntN("at", 30)) * time.Millisecond
	s.Collections = append(s.Collections, scenario.Collection{
		NS: droppedNamespace, Unsharded: true, Keys: 1,
	})
	s.Ops = append([]scenario.Op{{
		ID: len(s.Ops) + 1, NS: droppedNamespace, Kind: scenario.Drop,
	}}, s.Ops...)
	s.Primaries = []scenario.MovePrimary{{
		ID: 1, At: at, Database: catalog.DatabaseOf(droppedNamespace), To: to,
	}}
	s.Commands = append(s.Commands, scenario.Command{
		At: at + time.Duration(20+own.IntN("out", 60))*time.Millisecond,
		Do: commandkind.RemoveShard, Name: scenario.ShardName(to),
	})
	s.SortCommands()
	agreed := scenario.Trigger{Site: failpoint.ConfigDrainRemove.String(), Nth: 1}
	s.AddFaults(scenario.Fault{
		Kind: "pause", Until: &agreed,
		When: scenario.Trigger{Site: failpoint.MovePrimaryBlockReads.String(), Nth: 1},
	}, scenario.Fault{
		Kind: "pause", When: agreed,
		For: time.Duration(20+own.IntN("for", 300)) * time.Millisecond,
	})
}

// outOfReach keeps the donor of a migration that may be refused, because its recipient is to leave,
// from telling that one: it must not leave, and join again, without having been told.
func outOfReach(own keyed.Source) scenario.Fault {
	return scenario.Fault{
		Kind: "partial-partition", Target: "donor.*>recipient.*",
		When: scenario.Trigger{
			Site: failpoint.ConfigCommitReadShard.String(), Nth: 1 + own.IntN("refused", 4),
		},
		For: time.Duration(200+own.IntN("out of reach for", 2000)) * time.Millisecond,
	}
}

// loseMovePrimary loses answers to commits of a movePrimary that begins at a time: the donor does
// not know whether the database has moved, or stays as its recipient leaves.
func loseMovePrimary(own keyed.Source, s *scenario.Scenario, at time.Duration) {
	s.AddFaults(scenario.Fault{
		Kind: "lost-reply", Target: "*>config.*", When: scenario.Trigger{At: at},
		Args: []scenario.Setting{
			{Name: "messages", Value: "CommitMovePrimary"},
			{Name: "count", Value: keyed.Pick(own, "count", "1", "2", "3")},
		},
		For: time.Duration(300+own.IntN("for", 900)) * time.Millisecond,
	})
}

// interruptMovePrimary fails a movePrimary of 8.0 when its commit was answered, or has its donor
// lose its primary: who goes on commits again, and has to find out whether the database has moved
// or stays as its recipient leaves (protocol 15).
func interruptMovePrimary(own keyed.Source, s *scenario.Scenario) {
	site := keyed.Pick(own, "site", failpoint.MovePrimaryVerify, failpoint.MovePrimaryVerify,
		failpoint.MovePrimaryConfigTime, failpoint.MovePrimaryClear)
	f := scenario.Fault{
		Kind: "stepdown", Target: "donor.primary",
		When: scenario.Trigger{Site: site.String(), Nth: 1 + own.IntN("pass", 2)},
	}
	if own.Chance("fails", 70) {
		f.Kind, f.Target = "error", ""
		f.Args = []scenario.Setting{{Name: "code", Value: "OperationFailed"}}
	}
	s.AddFaults(f)
}

// commitAfterRemoval has the commit of a migration stay on its way until a shard has been removed,
// which the migration's recipient may be once its donor has given up: in 4.2 nothing fences the
// commit, so that only what the catalog says of that shard can refuse it (protocol 9.5).
func commitAfterRemoval(own keyed.Source, s *scenario.Scenario, at time.Duration) {
	s.Set(scenario.Setting{Name: "defaultConfigCommandTimeoutMS", Value: "150ms"})
	s.AddFaults(scenario.Fault{
		Kind: "hold", Target: "*>config.*",
		When: scenario.Trigger{At: max(0, at-time.Duration(own.IntN("from", 20))*time.Millisecond)},
		Until: &scenario.Trigger{
			Site: failpoint.ConfigDrainRemove.String(), Nth: 1,
			After: time.Duration(2+own.IntN("after", 40)) * time.Millisecond,
		},
		Args: []scenario.Setting{
			{Name: "messages", Value: "CommitChunkMigration"},
			{Name: "count", Value: keyed.Pick(own, "count", "1", "1", "2")},
		},
	})
}

// removeAbout has a shard removed about that time, and mostly added again.
func removeAbout(own keyed.Source, s *scenario.Scenario, at time.Duration, shard int) {
	out := max(0, at+time.Duration(own.IntN("out", 80)-20)*time.Millisecond)
	name := scenario.ShardName(shard)
	s.Commands = append(s.Commands, scenario.Command{
		At: out, Do: commandkind.RemoveShard, Name: name,
	})
	if own.Chance("again", 80) {
		in := out + time.Duration(1+own.IntN("in", 800))*time.Millisecond
		s.Commands = append(s.Commands, scenario.Command{
			At: in, Do: commandkind.AddShard, Name: name,
		})
	}
	s.SortCommands()
}
