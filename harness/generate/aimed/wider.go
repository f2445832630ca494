package aimed

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// widerShare is how many percent of the seeds with faults of several kinds have a range come back
// as a part of a wider one.
const widerShare = 14

// returnWider has two neighbouring chunks leave for a shard one after the other, be merged there,
// and come back as one, while the second of them may still wait to be deleted where it was. Its
// deletion begins inside the range that arrives, not where that begins.
func returnWider(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
		return !c.Unsharded && !c.Absent && !c.Hashed && len(c.Bounds) > 0
	})
	if i < 0 || s.Topology.Shards < 2 || !own.Chance("comes back wider", widerShare) {
		return
	}
	c := s.Collections[i]
	ends := slices.Concat([]int64{scenario.MinKey}, c.Bounds, []int64{scenario.MaxKey})
	owners := c.Owners
	if owners == 0 {
		owners = s.Topology.Shards
	}
	left := own.IntN("chunk", len(ends)-2)
	lo, mid, hi := ends[left], ends[left+1], ends[left+2]
	home := (left + 1) % owners
	away := (home + 1 + own.IntN("away", s.Topology.Shards-1)) % s.Topology.Shards
	at := time.Duration(own.IntN("at", max(1, int(span/2))))
	next := func(who string) time.Duration {
		at += time.Duration(60+own.IntN(who, 200)) * time.Millisecond
		return at
	}
	s.Commands = append(s.Commands, scenario.Command{
		At: at, Do: commandkind.SetParameter, Name: "orphanCleanupDelaySecs",
		Value: keyed.Pick(own, "delay", "400ms", "400ms", "900ms"),
	})
	move := func(who string, lo, hi int64, to int, wait bool) {
		s.Migrations = append(s.Migrations, scenario.Migration{
			ID: s.NextMigration(), At: next(who), NS: c.NS, Min: lo, Max: hi, To: to, WaitDelete: wait,
		})
	}
	move("first", lo, mid, away, true)
	move("second", mid, hi, away, false)
	s.Commands = append(s.Commands, scenario.Command{
		At: next("merged"), Do: commandkind.MergeChunks, Name: c.NS, Min: lo, Max: hi,
	})
	move("back", lo, hi, home, false)
	move("back again", lo, hi, home, false)
	s.SortCommands()
}
