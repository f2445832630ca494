package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

var drain = Operations{
	Name: "shard-removal", About: "a shard with data is removed, and usually added again",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		if !p.Remove {
			return nil
		}
		shard := p.shard("shard")
		out, in := p.two("drain")
		all = append(all, scenario.Command{At: out, Do: commandkind.RemoveShard, Name: shard})
		if p.chance("again", 70) {
			all = append(all, scenario.Command{At: in, Do: commandkind.AddShard, Name: shard})
		}
		return all
	},
}

var zones = Operations{
	Name: "zones",
	About: "a range is assigned to a zone of two shards; the zone's shards change, and the range is " +
		"usually unassigned again",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		zone, c := p.one("zone", "east", "west"), p.collection("zoned")
		first, second, third := p.shard("first"), p.shard("second"), p.shard("third")
		begin, end := p.two("zones")
		lo, hi := p.span(c)
		all = []scenario.Command{
			{At: begin, Do: commandkind.ZoneAdd, Name: first, Value: zone},
			{
				At:    begin,
				Do:    commandkind.ZoneAdd,
				Name:  second,
				Value: zone,
			}, {
				At:    begin + 20*time.Millisecond,
				Do:    commandkind.ZoneRange,
				Name:  c.NS,
				Min:   lo,
				Max:   hi,
				Value: zone,
			},
		}
		if p.chance("moves on", 60) {
			at := (begin + end) / 2
			all = append(all, scenario.Command{
				At:    at,
				Do:    commandkind.ZoneAdd,
				Name:  third,
				Value: zone,
			}, scenario.Command{At: at, Do: commandkind.ZoneRemove, Name: first, Value: zone})
		}
		if p.chance("ends", 60) {
			all = append(all, scenario.Command{
				At:    end,
				Do:    commandkind.ZoneRange,
				Name:  c.NS,
				Min:   lo,
				Max:   hi,
				Value: commandkind.NoZone,
			})
		}
		if hi != scenario.MaxKey && p.chance("another beside it", 50) {
			all = append(all, p.beside(begin, hi, zone, third, c)...)
		}
		return all
	},
}

// beside gives the range that begins where another ends to the other zone: each belongs to its own,
// the key between them to the second.
func (p *operationsPlan) beside(
	at time.Duration, from int64, zone, shard string, c *scenario.Collection,
) []scenario.Command {
	other := "east"
	if zone == other {
		other = "west"
	}
	to := p.key("end of the other", c)
	if to <= from {
		to = scenario.MaxKey
	}
	return []scenario.Command{
		{At: at, Do: commandkind.ZoneAdd, Name: shard, Value: other},
		{
			At:    at + 20*time.Millisecond,
			Do:    commandkind.ZoneRange,
			Name:  c.NS,
			Min:   from,
			Max:   to,
			Value: other,
		},
	}
}

var limits = Operations{
	Name:  "shard-limits",
	About: "shards get a limit of their data, and mostly lose it again (4.2)",
	older: true,
	draw: func(p *operationsPlan) (all []scenario.Command) {
		for n := range 1 + p.pick("limits", 2) {
			who := fmt.Sprintf("limit %d", n)
			shard := p.shard(who)
			set, unset := p.two(who)
			all = append(all, scenario.Command{
				At: set, Do: commandkind.ShardLimit, Name: shard,
				Value: p.one(who+" size", "100", "400", "900", "2000"),
			})
			if p.chance(who+" ends", 60) {
				all = append(all, scenario.Command{
					At: unset, Do: commandkind.ShardLimit, Name: shard, Value: "0",
				})
			}
		}
		return all
	},
}
