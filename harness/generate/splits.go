package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// reshapedShare is how many seeds in a hundred have chunks split and merged, splitsMost and
	// mergesMost how many at most.
	reshapedShare = 25
	splitsMost    = 5
	mergesMost    = 3
)

// drawSplits has an operator split and merge chunks while others migrate. A merge is of what lies
// between two places where chunks meet, if both were cut; whether one shard has it all then is left
// to luck.
func drawSplits(d keyed.Source, z size, c scenario.Collection) (all []scenario.Command) {
	if z.moves < 2 || !d.Chance("splits", reshapedShare) {
		return nil
	}
	at := func(who string) time.Duration {
		return time.Duration(d.IntN(who+"/at", int(z.span/time.Millisecond))) * time.Millisecond
	}
	meet := append([]int64{scenario.MinKey, scenario.MaxKey}, c.Bounds...)
	for i := range 1 + d.IntN("splits/count", splitsMost) {
		who := fmt.Sprintf("splits/%d", i)
		k := c.Bound(d.IntN(who+"/key", c.Keys))
		all = append(all, scenario.Command{
			At:   at(who),
			Do:   commandkind.SplitChunk,
			Name: c.NS,
			Min:  k,
		})
		meet = append(meet, k)
	}
	slices.Sort(meet)
	meet = slices.Compact(meet)
	for i := range d.IntN("merges/count", mergesMost+1) {
		who := fmt.Sprintf("merges/%d", i)
		from := d.IntN(who+"/from", len(meet)-1)
		to := min(from+1+d.IntN(who+"/chunks", 3), len(meet)-1)
		all = append(all, scenario.Command{
			At:   at(who),
			Do:   commandkind.MergeChunks,
			Name: c.NS,
			Min:  meet[from],
			Max:  meet[to],
		})
	}
	return all
}
