package generate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/workloads"
)

const (
	// unshardedShare is how many percent of the scenarios have an unsharded collection whose
	// primary moves.
	unshardedShare = 35
	// unshardedKeys and unshardedOps are its size and the use of it: little beside what is sharded.
	unshardedKeys, unshardedOps = 8, 60
	unshardedNamespace          = "test.plain"
	otherUnsharded              = "test.plainer"
)

// stayShare is how many percent of the databases of 4.2 stay where they are if no operator removes
// their shard, so that their unsharded collections can be used.
const stayShare = 50

// watchedShare is how many percent of the unsharded collections that clients use have a reader of
// their changes.
const watchedShare = 40

// alongShare is how many percent of the databases of 4.2 that move are used meanwhile.
const alongShare = 60

// addUnsharded puts an unsharded collection into the same database, and has its primary move while
// clients use it; some are made by the first write. In 4.2, which loses what is written meanwhile
// (protocol 15), some databases stay where they are, and of those that move some are not used.
func addUnsharded(d keyed.Source, s *scenario.Scenario, size size, mayStay bool) {
	c := scenario.Collection{
		NS:        unshardedNamespace,
		Unsharded: true,
		Keys:      unshardedKeys,
		Preload:   unshardedKeys / 2,
	}
	stays := s.Protocol == "4.2" && mayStay && d.Fork(0x85).Chance("stays", stayShare)
	whole := s.Protocol != "4.2" || stays
	if whole && d.Fork(0x76).Chance("absent", 25) {
		c.Absent, c.Preload = true, 0
	}
	switch own := d.Fork(0x77); own.IntN("by", 3) {
	case 0:
		c.By, c.Hashed = scenario.ByField, own.Chance("hashed", 40)
	case 1:
		c.By = scenario.ByField
	}
	s.Collections = append(s.Collections, c)
	if !stays {
		movePrimaries(d, s, c, size)
	}
	if whole || d.Fork(0xc1).Chance("along", alongShare) {
		useUnsharded(d, s, c, size)
	}
	if whole {
		changeOrShard(d, s, c, size)
	}
}

// movePrimaries has the primary of the collection's database move.
func movePrimaries(d keyed.Source, s *scenario.Scenario, c scenario.Collection, size size) {
	moves := keyed.Pick(d, "primaries", 2, 4, 6)
	s.Primaries = workloads.DrawPrimaries(d.IntN, workloads.PrimaryParams{
		Database: catalog.DatabaseOf(c.NS),
		Shards:   size.topology.Shards,
		Count:    moves,
		Start:    warmUp,
		Gap:      (size.span - warmUp) / time.Duration(moves),
		FirstID:  1,
	})
}

// useUnsharded has clients use the collection.
func useUnsharded(d keyed.Source, s *scenario.Scenario, c scenario.Collection, size size) {
	mix := workloads.Standard()
	if own := d.Fork(0x78); own.Chance("weak reads", 50) {
		mix = workloads.Weak(mix)
	}
	s.Ops = append(s.Ops, workloads.Draw(d.IntN, workloads.Params{
		NS: c.NS, Keys: c.Keys, Preload: c.Preload, Clients: size.topology.Clients,
		Count: unshardedOps, Span: size.span, FirstID: len(s.Ops) + 1,
	}, mix)...)
	if own := d.Fork(0x86); own.Chance("watched", watchedShare) {
		watch(s, own, c.NS, size)
	}
}

// changeOrShard has clients give the collection a shard key or change it as a whole, in some
// scenarios both.
func changeOrShard(d keyed.Source, s *scenario.Scenario, c scenario.Collection, size size) {
	own := d.Fork(0x77)
	sharded := own.Chance("sharded", 50)
	if sharded {
		shardUnsharded(own, s, c, size)
	}
	if !sharded || own.Chance("changed, too", 35) {
		changeUnsharded(d.Fork(0x75), s, size)
	}
}

// shardUnsharded has the collection sharded while clients use it, in some scenarios by two of them,
// and then its ranges move.
func shardUnsharded(own keyed.Source, s *scenario.Scenario, c scenario.Collection, size size) {
	op := scenario.Op{
		ID: len(s.Ops) + 1, NS: unshardedNamespace, Kind: scenario.Shard,
		At:     warmUp + time.Duration(own.IntN("when", int(size.span-warmUp)/2)),
		Client: own.IntN("client", size.topology.Clients),
	}
	if moves := primaryTimes(s.Primaries); len(moves) > 0 && own.Chance("meets a move", 50) {
		op.At = max(0, keyed.Pick(own, "move", moves...)+
			time.Duration(own.IntN("into", 60)-20)*time.Millisecond)
	}
	s.Ops = append(s.Ops, op)
	if own.Chance("twice", 30) {
		op.ID, op.Client = op.ID+1, (op.Client+1)%size.topology.Clients
		op.At += time.Duration(own.IntN("behind", 60)) * time.Millisecond
		s.Ops = append(s.Ops, op)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	moveSharded(own, s, c, op.At, size)
	renameSharded(own.Fork(0xc4), s, c, op.At)
}

// renamedShare is how many percent of the unsharded collections that are sharded are renamed soon
// after.
const renamedShare = 20

// renameSharded has a silent client write before the collection is sharded, which then is renamed,
// and its ranges move: the statement is on record without the shard key, and by the former name.
func renameSharded(
	own keyed.Source, s *scenario.Scenario, c scenario.Collection, sharded time.Duration,
) {
	if !own.Chance("renamed", renamedShare) {
		return
	}
	after := func(what string, least, most int) time.Duration {
		return max(0, sharded+time.Duration(least+own.IntN(what, most-least))*time.Millisecond)
	}
	written, renamed := after("written", -80, 0), after("renamed", 60, 250)
	id := len(s.Ops) + 1
	s.Ops = append(s.Ops, scenario.Op{
		ID: id, Client: s.Topology.Clients, Kind: scenario.Upsert, NS: unshardedNamespace,
		Key: int64(own.IntN("key", c.Keys)), Value: fmt.Sprintf("w%d", id), At: written,
	}, scenario.Op{
		ID: id + 1, Client: own.IntN("client", s.Topology.Clients), Kind: scenario.Rename,
		NS: unshardedNamespace, Into: otherUnsharded, DropTarget: true, At: renamed,
	})
	takeName(own.Fork(1), s, c, renamed)
	s.Topology.Clients++
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	for n := range 2 {
		s.Migrations = append(s.Migrations, scenario.Migration{
			ID: s.NextMigration(), NS: otherUnsharded, Min: scenario.MinKey, Max: scenario.MaxKey,
			At: renamed + time.Duration(30+180*n+own.IntN(fmt.Sprintf("moves/%d", n), 150))*time.Millisecond,
			To: own.IntN(fmt.Sprintf("to/%d", n), s.Topology.Shards),
		})
	}
	nameOther(s, true)
}

// takenShare is how many percent of the names that a sharded collection is about to get are taken.
const takenShare = 50

// takeName has a client write under the name that a sharded collection is about to get: it makes an
// unsharded one, which nothing replaces.
func takeName(
	own keyed.Source, s *scenario.Scenario, c scenario.Collection, renamed time.Duration,
) {
	if !own.Chance("taken", takenShare) {
		return
	}
	for n := range 1 + own.IntN("how often", 3) {
		each, id := own.Fork(uint64(n)), len(s.Ops)+1
		s.Ops = append(s.Ops, scenario.Op{
			ID: id, Client: each.IntN("client", s.Topology.Clients), Kind: scenario.Upsert,
			NS: otherUnsharded, Key: int64(each.IntN("key", c.Keys)), Value: fmt.Sprintf("w%d", id),
			At: max(0, renamed+time.Duration(each.IntN("at", 200)-150)*time.Millisecond),
		})
	}
}

// nameOther adds the second name that renames may give the unsharded collection, unless it is
// there.
func nameOther(s *scenario.Scenario, absent bool) {
	c := s.Collections[len(s.Collections)-1]
	if c.NS == otherUnsharded {
		return
	}
	c.NS, c.Preload, c.Absent = otherUnsharded, 0, c.Absent || absent
	s.Collections = append(s.Collections, c)
}

// moveSharded moves ranges of a collection after the time from which it is sharded.
func moveSharded(
	own keyed.Source, s *scenario.Scenario, c scenario.Collection, from time.Duration, size size,
) {
	first := 0
	for _, m := range s.Migrations {
		first = max(first, m.ID)
	}
	for n := range keyed.Pick(own, "ranges", 0, 1, 2, 4) {
		m := scenario.Migration{
			ID: first + 1 + n, NS: unshardedNamespace, Min: scenario.MinKey, Max: scenario.MaxKey,
			At: from + time.Duration(own.IntN(fmt.Sprintf("at/%d", n), max(1, int(size.span-from)))),
			To: own.IntN(fmt.Sprintf("to/%d", n), size.topology.Shards),
		}
		at := c.Bound(1 + own.IntN(fmt.Sprintf("cut/%d", n), unshardedKeys-1))
		switch own.IntN(fmt.Sprintf("part/%d", n), 3) {
		case 0:
			m.Min = at
		case 1:
			m.Max = at
		}
		s.Migrations = append(s.Migrations, m)
	}
}

// changeUnsharded has an unsharded collection dropped, made again, renamed and indexed in some
// scenarios.
func changeUnsharded(own keyed.Source, s *scenario.Scenario, size size) {
	if !own.Chance("whole", 65) {
		return
	}
	p := workloads.WholeParams{
		NS:       unshardedNamespace,
		Clients:  size.topology.Clients,
		Count:    keyed.Pick(own, "wholes", 1, 2, 3),
		Start:    warmUp,
		End:      size.span,
		Moves:    primaryTimes(s.Primaries),
		Drops:    keyed.Pick(own, "drops", 0, 50, 100),
		Implicit: 50,
		FirstID:  len(s.Ops) + 1,
	}
	if own.Chance("renames", 60) {
		p.Other, p.Renames = otherUnsharded, 50
		useOtherUnsharded(own, s)
		p.FirstID = len(s.Ops) + 1
	}
	s.Ops = append(s.Ops, workloads.DrawWhole(own.IntN, p)...)
	shardTargets(own, s)
	dropBeforeMoves(own, s)
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// shardTargets has some of the names sharded that an unsharded collection is about to be given, or
// is just given.
func shardTargets(own keyed.Source, s *scenario.Scenario) {
	for i := range s.Ops {
		op, who := s.Ops[i], fmt.Sprintf("target/%d", s.Ops[i].ID)
		if op.Kind != scenario.Rename || op.NS != unshardedNamespace && op.NS != otherUnsharded ||
			!own.Chance(who, 40) {
			continue
		}
		s.Ops = append(s.Ops, scenario.Op{
			ID: len(s.Ops) + 1, NS: op.Into, Kind: scenario.Shard,
			At:     max(0, op.At+time.Duration(own.IntN(who+"/at", 120)-40)*time.Millisecond),
			Client: (op.Client + 1) % s.Topology.Clients,
		})
	}
}

// dropBeforeMoves has the collection dropped shortly before its database moves, in some scenarios:
// there may be nothing to copy then. The next write makes it again, mostly on the new shard.
func dropBeforeMoves(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("dropped before moves", 40) {
		return
	}
	for _, at := range primaryTimes(s.Primaries) {
		who := fmt.Sprintf("before/%v", at)
		if !own.Chance(who, 50) {
			continue
		}
		s.Ops = append(s.Ops, scenario.Op{
			ID: len(s.Ops) + 1, NS: unshardedNamespace, Kind: scenario.Drop,
			At:     max(0, at-time.Duration(own.IntN(who+"/by", 20))*time.Millisecond),
			Client: own.IntN(who+"/client", s.Topology.Clients),
		})
	}
}

// useOtherUnsharded has a part of the operations use the name that the unsharded collection has now
// and then; in some scenarios a collection is there from the beginning.
func useOtherUnsharded(own keyed.Source, s *scenario.Scenario) {
	nameOther(s, !own.Chance("other exists", 30))
	var sharding *scenario.Op
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.NS != unshardedNamespace {
			continue
		}
		if op.Kind == scenario.Shard {
			sharding = op
		} else if !op.Kind.Whole() && own.IntN(fmt.Sprintf("op/%d/other", i), 3) == 0 {
			op.NS = otherUnsharded
		}
	}
	if sharding != nil && own.Chance("both are sharded", 40) {
		both := *sharding
		both.ID, both.NS = len(s.Ops)+1, otherUnsharded
		both.At += time.Duration(own.IntN("the other is sharded", 200)-100) * time.Millisecond
		both.At = max(0, both.At)
		s.Ops = append(s.Ops, both)
	}
}

// primaryTimes are when moves of a primary start.
func primaryTimes(moves []scenario.MovePrimary) (times []time.Duration) {
	for _, m := range moves {
		times = append(times, m.At)
	}
	return times
}
