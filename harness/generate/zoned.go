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
