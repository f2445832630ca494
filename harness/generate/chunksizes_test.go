package generate

import (
	"strconv"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
)

// TestChunkSizes: no operator sets a chunk to be smaller than half of what has one shard key, or the
// balancer of 8.0 would move that back and forth for ever; whatever else was drawn that appends to
// documents or sets sizes.
func TestChunkSizes(t *testing.T) {
	set := 0
	for _, p := range Profiles() {
		for seed := range uint64(400) {
			s := Draw(seed, p)
			if s.Protocol == "4.2" {
				continue
			}
			pushes, most := map[string]map[int64]int{}, 0
			for _, c := range s.Collections {
				pushes[c.NS] = map[int64]int{}
				for _, o := range s.Ops {
					if o.NS == c.NS && o.Kind == scenario.Push {
						pushes[c.NS][c.Place(o.Key)]++
						most = max(most, pushes[c.NS][c.Place(o.Key)])
					}
				}
			}
			scenario.VisitChunkSizes(s.Commands, func(_ string, value *string) {
				n, err := strconv.Atoi(*value)
				if set++; err == nil && n > 0 && 2*n < most*pushedBytes {
					t.Errorf("%s seed %d: a chunk is to have %d bytes, and %d pushes are to one key",
						p.Name, seed, n, most)
				}
			})
		}
	}
	if set < 100 {
		t.Errorf("only %d sizes were set", set)
	}
}
