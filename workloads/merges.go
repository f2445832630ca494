package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// MergeParams say for which collection, and when, chunks are to stay apart.
type MergeParams struct {
	Collection *scenario.Collection
	Start, End time.Duration
}

// mergeSwitches are the ways in which operators keep chunks from being merged automatically: each
// is commands at the beginning and at the end.
var mergeSwitches = []func(p *operationsPlan, c *scenario.Collection) (off, on scenario.Command){
	func(p *operationsPlan, _ *scenario.Collection) (off, on scenario.Command) {
		return automerge("false"), automerge(p.one("merged again", "true", commandkind.NoValue))
	},
	func(_ *operationsPlan, c *scenario.Collection) (off, on scenario.Command) {
		return scenario.Command{Do: commandkind.AutoMerge, Name: c.NS, Value: "off"},
			scenario.Command{Do: commandkind.AutoMerge, Name: c.NS, Value: "on"}
	},
	func(_ *operationsPlan, c *scenario.Collection) (off, on scenario.Command) {
		return scenario.Command{Do: commandkind.Balance, Name: c.NS, Value: "off"},
			scenario.Command{Do: commandkind.Balance, Name: c.NS, Value: "on"}
	},
	func(*operationsPlan, *scenario.Collection) (off, on scenario.Command) {
		return scenario.Command{Do: commandkind.BalancerStop},
			scenario.Command{Do: commandkind.BalancerStart}
	},
	func(p *operationsPlan, _ *scenario.Collection) (off, on scenario.Command) {
		return p.setting(0, scenario.Setting{
				Name: "mode", Value: p.one("mode while apart", "autoSplitOnly", "off"),
			}),
			p.setting(0, scenario.Setting{Name: "mode", Value: "full"})
	},
	func(p *operationsPlan, _ *scenario.Collection) (off, on scenario.Command) {
		w := p.one("window while apart", "3:00-3:01", "10:30-10:31", "19:00-19:01")
		return p.setting(0, scenario.Setting{Name: "activeWindow", Value: w}),
			p.setting(0, scenario.Setting{Name: "activeWindow", Value: commandkind.NoValue})
	},
}

// ofMerges is how many of the mergeSwitches forbid nothing but merges.
const ofMerges = 2

func automerge(enabled string) scenario.Command {
	return scenario.Command{
		Do: commandkind.PutSetting, Name: "automerge",
		Fields: []scenario.Setting{{Name: "enabled", Value: enabled}},
	}
}

// DrawApart has operators say that chunks of a collection are not to be merged automatically, for a
// while or for good, and split some meanwhile: those could be merged.
func DrawApart(source Source, p MergeParams) (all []scenario.Command) {
	plan := &operationsPlan{OperationsParams{Start: p.Start, End: p.End}, source, 0}
	c := p.Collection
	for n := range 1 + plan.pick("how often apart", 2) {
		who := fmt.Sprintf("apart %d", n)
		from, to := plan.two(who)
		// The switches that are about merges alone come first, and twice as often.
		how := plan.pick(who+" how", len(mergeSwitches)+ofMerges) % len(mergeSwitches)
		off, on := mergeSwitches[how](plan, c)
		off.At, on.At = from, to
		all = append(all, off)
		if plan.chance(who+" ends", 80) {
			all = append(all, on)
		}
		for i := range 2 + plan.pick(who+" cuts", 3) {
			cut := fmt.Sprintf("%s cut %d", who, i)
			all = append(all, scenario.Command{
				At: from + time.Duration(plan.pick(cut+" at", int((to-from)/time.Millisecond)+1))*
					time.Millisecond,
				Do: commandkind.SplitChunk, Name: c.NS, Min: plan.key(cut, c),
			})
		}
	}
	return all
}
