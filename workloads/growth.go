package workloads

import (
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// GrowthParams say how a cluster grows.
type GrowthParams struct {
	// Spare are the replica sets that are no shards at the start.
	Spare []string
	// Limits allows shards to have a limit of their data, which later versions do not know.
	Limits     bool
	Start, End time.Duration
}

// DrawGrowth has each spare replica set join while the cluster works, and some leave again. With
// limits it may be full before the balancer is done, and the limit changes.
func DrawGrowth(source Source, p GrowthParams) (all []scenario.Command) {
	for _, shard := range p.Spare {
		g := growth{p, source, shard}
		at := g.after(p.Start, "joins")
		join := scenario.Command{At: at, Do: commandkind.AddShard, Name: shard}
		if limit := g.source("growth/"+shard+"/limit", 4); p.Limits && limit > 0 {
			join.Fields = []scenario.Setting{{Name: "max", Value: strconv.Itoa(300 * limit)}}
		}
		all = append(all, join)
		if len(join.Fields) > 0 && g.chance("limit changes", 60) {
			at = g.after(at, "limit")
			all = append(all, scenario.Command{
				At: at, Do: commandkind.ShardLimit, Name: shard,
				Value: strconv.Itoa(500 * g.source("growth/"+shard+"/new limit", 4)),
			})
		}
		if g.chance("leaves", 30) {
			all = append(all, scenario.Command{
				At: g.after(at, "leaves"), Do: commandkind.RemoveShard, Name: shard,
			})
		}
	}
	return all
}

// growth is what one replica set does, being drawn.
type growth struct {
	GrowthParams
	source Source
	shard  string
}

func (g growth) chance(what string, percent int) bool {
	return g.source("growth/"+g.shard+"/"+what, 100) < percent
}

// after is a time in the first half of what is left.
func (g growth) after(at time.Duration, what string) time.Duration {
	left := max(2, int((g.End-at)/time.Millisecond))
	return at + time.Duration(1+g.source("growth/"+g.shard+"/"+what+" at", left/2))*time.Millisecond
}
