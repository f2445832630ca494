package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// zonedShare is how many percent of the collections that are made as the config server decides have
// zones by then.
const zonedShare = 50

// zoneWhatIsMade has zones decide where collections are made: they get ranges of zones shortly
// before, or while, they are made again. Those that they had end when they are dropped.
func zoneWhatIsMade(own keyed.Source, s *scenario.Scenario) {
	var all []scenario.Command
	for i := range s.Ops {
		o := &s.Ops[i]
		c := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
			return c.NS == o.NS && c.Made == scenario.MadePlaced
		})
		if o.Kind == scenario.Create && c >= 0 && own.Chance("zoned/"+o.NS, zonedShare) {
			all = append(all,
				zonesFrom(own, fmt.Sprintf("made/%d/", i), o.At, s.Collections[c])...)
		}
	}
	if len(all) == 0 {
		return
	}
	for i, zone := range []string{"east", "west"} {
		shard := own.IntN(fmt.Sprintf("zone/%d", i), s.Topology.Founders())
		all = append(all, scenario.Command{
			At: warmUp / 2, Do: commandkind.ZoneAdd, Name: scenario.ShardName(shard), Value: zone,
		})
	}
	s.Commands = append(s.Commands, all...)
	sortCommands(s)
}

// zonesFrom gives two neighbouring ranges to the zones about when a collection is made.
func zonesFrom(
	own keyed.Source, who string, made time.Duration, c scenario.Collection,
) []scenario.Command {
	at := max(0, made+time.Duration(own.IntN(who+"at", 40)-30)*time.Millisecond)
	first := own.IntN(who+"first", c.Keys-1)
	second := first + 1 + own.IntN(who+"second", c.Keys-1-first)
	lo, hi := boundOf(c, first), boundOf(c, second)
	end := keyed.Pick(own, who+"end", boundOf(c, second+1), scenario.MaxKey)
	return []scenario.Command{
		{At: at, Do: commandkind.ZoneRange, Name: c.NS, Min: lo, Max: hi, Value: "east"},
		{At: at, Do: commandkind.ZoneRange, Name: c.NS, Min: hi, Max: end, Value: "west"},
	}
}

// boundOf is a key of a collection as a bound, of a hashed one somewhere among the hashes.
func boundOf(c scenario.Collection, number int) int64 {
	if !c.Hashed {
		return int64(number)
	}
	return math.MinInt64 + (int64(number)+1)*(math.MaxInt64/int64(c.Keys+2)*2)
}

// leavingShare is how many percent of the seeds in which shards can be removed have one removed to
// which something is about to move.
const leavingShare = 40

// removeRecipients has shards removed when a primary or a range is about to move there, or does:
// they may agree to leave before the move is committed, and join again while what is left of it is
// cleaned up.
func removeRecipients(own keyed.Source, s *scenario.Scenario) {
	if !s.Balancer || namesShards(s) {
		return
	}
	if n := len(s.Primaries); n > 0 && own.Chance("leaving", leavingShare) {
		m := &s.Primaries[own.IntN("move", n)]
		removeAbout(own.Fork(1), s, m.At, m.To)
	}
	if n := len(s.Migrations); n > 0 && own.Chance("leaving too", leavingShare) {
		m := &s.Migrations[own.IntN("migration", n)]
		removeAbout(own.Fork(2), s, m.At, m.To)
	}
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
	sortCommands(s)
}

func sortCommands(s *scenario.Scenario) {
	slices.SortStableFunc(s.Commands, func(a, b scenario.Command) int {
		return cmp.Compare(a.At, b.At)
	})
}
