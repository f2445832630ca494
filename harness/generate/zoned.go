package generate

import (
	"fmt"
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
		all = append(all, zoneOf(shard, zone))
		if founders := s.Topology.Founders(); founders > 1 && several(own) {
			next := 1 + own.Fork(0xaa).IntN("second of "+zone, founders-1)
			all = append(all, zoneOf((shard+next)%founders, zone))
		}
	}
	s.Commands = append(s.Commands, all...)
	s.SortCommands()
}

// severalShare is how many percent of the scenarios with such zones have several shards in each,
// and several ranges of one: these go to the shards in turn.
const severalShare = 50

func several(own keyed.Source) bool { return own.Fork(0xaa).Chance("several", severalShare) }

func zoneOf(shard int, zone string) scenario.Command {
	return scenario.Command{
		At: warmUp / 2, Do: commandkind.ZoneAdd, Name: scenario.ShardName(shard), Value: zone,
	}
}

// zonesFrom gives two neighbouring ranges to the zones about when a collection is made, or more.
func zonesFrom(
	own keyed.Source, who string, made time.Duration, c scenario.Collection,
) []scenario.Command {
	at := max(0, made+time.Duration(own.IntN(who+"at", 40)-30)*time.Millisecond)
	first := own.IntN(who+"first", c.Keys-1)
	second := first + 1 + own.IntN(who+"second", c.Keys-1-first)
	lo, hi := c.Bound(first), c.Bound(second)
	end := keyed.Pick(own, who+"end", c.Bound(second+1), scenario.MaxKey)
	all := []scenario.Command{
		{At: at, Do: commandkind.ZoneRange, Name: c.NS, Min: lo, Max: hi, Value: "east"},
		{At: at, Do: commandkind.ZoneRange, Name: c.NS, Min: hi, Max: end, Value: "west"},
	}
	if behind := second + 1; several(own) {
		if end == scenario.MaxKey {
			behind = c.Keys // there is nothing behind
		}
		all = append(all, moreRanges(own.Fork(0xab), who, at, c, first, behind)...)
	}
	return all
}

// moreRanges gives ranges to the zone of the first one, before it and from behind on, which may or
// may not leave gaps.
func moreRanges(
	own keyed.Source, who string, at time.Duration, c scenario.Collection, first, behind int,
) (all []scenario.Command) {
	give := func(from, to int) {
		if from < to {
			all = append(all, scenario.Command{
				At: at, Do: commandkind.ZoneRange, Name: c.NS, Min: c.Bound(from),
				Max: c.Bound(to), Value: "east",
			})
		}
	}
	if first > 0 {
		from := own.IntN(who+"before", first)
		give(from, from+1+own.IntN(who+"before/keys", first-from))
	}
	if behind < c.Keys {
		from := behind + own.IntN(who+"behind", c.Keys-behind)
		give(from, from+1+own.IntN(who+"behind/keys", c.Keys-from))
	}
	return all
}
