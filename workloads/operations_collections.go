package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

var exempt = Operations{
	Name: "balancing-disabled",
	About: "balancing of one collection is disabled for a while, as may be automatic merges (8.0); " +
		"its chunk size changes",
	draw: func(p *operationsPlan) []scenario.Command {
		off, on := p.two("exempt")
		c := p.collection("exempted")
		return append(p.unmerged(c, off, on), []scenario.Command{
			{
				At:    off,
				Do:    commandkind.ChunkSize,
				Name:  c.NS,
				Value: p.one("own size before", "150", "300", "600"),
			},
			{At: off, Do: commandkind.Balance, Name: c.NS, Value: "off"},
			{
				At:    on,
				Do:    commandkind.Balance,
				Name:  c.NS,
				Value: "on",
			}, {
				At:    on,
				Do:    commandkind.ChunkSize,
				Name:  c.NS,
				Value: p.one("own size", "0", "200", "800"),
			},
		}...)
	},
}

// unmerged has no chunks of a collection merged automatically for a while.
func (p *operationsPlan) unmerged(
	c *scenario.Collection, off, on time.Duration,
) []scenario.Command {
	if p.Older || !p.chance("unmerged", 50) {
		return nil
	}
	return []scenario.Command{
		{At: off, Do: commandkind.AutoMerge, Name: c.NS, Value: "off"},
		{At: on, Do: commandkind.AutoMerge, Name: c.NS, Value: p.one("merged", "on", "on", "off")},
	}
}

var reshape = Operations{
	Name:  "split-and-merge",
	About: "chunks are split, merged and cleared of jumbo flags while they move",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		c := p.collection("reshaped")
		for n := range 1 + p.pick("splits", 4) {
			at, _ := p.two(fmt.Sprintf("split %d", n))
			all = append(all, scenario.Command{
				At:   at,
				Do:   commandkind.SplitChunk,
				Name: c.NS,
				Min:  p.key(fmt.Sprintf("cut %d", n), c),
			})
		}
		at, later := p.two("merge")
		lo, hi := p.span(c)
		all = append(all, scenario.Command{
			At:   at,
			Do:   commandkind.MergeChunks,
			Name: c.NS,
			Min:  lo,
			Max:  hi,
		},
			scenario.Command{
				At:   later,
				Do:   commandkind.ClearJumboFlag,
				Name: c.NS,
				Min:  p.key("marked", c),
			})
		return all
	},
}

// While a collection is defragmented it is, often, set otherwise before that can have ended: the
// end writes the collection's document, where all of these are.
var defragmentation = Operations{
	Name: "defragmentation",
	About: "a collection is defragmented, its balancing changes meanwhile, and a part of it may be " +
		"of a zone (8.0)",
	newer: true,
	draw: func(p *operationsPlan) (all []scenario.Command) {
		if p.chance("defragmented zones", 40) {
			all = zones.draw(p)
		}
		at, _ := p.two("defragmented")
		return append(all, p.defragment(at, p.collection("defragmented"))...)
	},
}

func (p *operationsPlan) defragment(
	at time.Duration, c *scenario.Collection,
) []scenario.Command {
	all := []scenario.Command{
		{At: at, Do: commandkind.Defragment, Name: c.NS, Value: "on"},
	}
	for n := range p.pick("settings of the defragmented", 4) {
		who := fmt.Sprintf("setting %d of the defragmented", n)
		at += time.Duration(p.pick(who+" at", 150)) * time.Millisecond
		set := scenario.Command{
			At: at, Do: commandkind.Balance, Name: c.NS, Value: p.one(who, "off", "on"),
		}
		if p.chance(who+" is a size", 40) {
			set.Do, set.Value = commandkind.ChunkSize, p.one(who+" size", "150", "600")
		}
		all = append(all, set)
	}
	return all
}
