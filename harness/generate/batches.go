package generate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// batchShare is how many percent of the seeds have clients that write in batches.
const batchShare = 40

// batchWrites has clients write several statements under one transaction number, to collections
// that stay what they are: in another one of the name, statements that are sent again are carried
// out again (protocol 7). One that is only sharded meanwhile stays the same.
func batchWrites(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("batches", batchShare) {
		return
	}
	replaced := replacedNames(s)
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	share := keyed.Pick(own, "share", 40, 60, 95)
	begins := map[int]bool{} // by client: what it writes next must not repeat what it wrote last
	for i := range s.Ops {
		o := &s.Ops[i]
		if kind := o.Kind.Of(); kind.Shape != opkind.Keyed || kind.Reads() {
			continue
		}
		o.Batched = !replaced[o.NS] && !begins[o.Client] &&
			own.Chance(fmt.Sprintf("batched/%d", o.ID), share)
		begins[o.Client] = replaced[o.NS]
	}
}

// replacedNames are the names of collections that may be other ones later.
func replacedNames(s *scenario.Scenario) map[string]bool {
	replaced := map[string]bool{}
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Kind.Whole() && o.Kind != scenario.Shard {
			replaced[o.NS], replaced[o.Into] = true, true
		}
	}
	return replaced
}
