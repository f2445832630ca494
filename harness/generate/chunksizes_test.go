package generate

import (
	"strconv"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
)

// TestChunkSizes: no operator sets a chunk to be smaller than half of what has one shard key, or the
// balancer of 8.0 would move that back and forth for ever, and in 4.2 not smaller than several
// documents of one key, or they could not be moved; whatever else was drawn that appends to
// documents or sets sizes.
func TestChunkSizes(t *testing.T) {
	set := map[string]int{}
	for _, p := range Profiles() {
		for seed := range uint64(400) {
			s := Draw(seed, p)
			pushes, most, share := map[string]map[int64]int{}, 0, 1
			for _, c := range s.Collections {
				pushes[c.NS], share = map[int64]int{}, max(share, c.Share)
				for _, o := range s.Ops {
					if o.NS == c.NS && o.Kind == scenario.Push {
						pushes[c.NS][c.Place(o.Key)]++
						most = max(most, pushes[c.NS][c.Place(o.Key)])
					}
				}
			}
			bytes, chunks := most*pushedBytes+share*documentBytes, 2
			if s.Protocol == "4.2" {
				chunks = 1
				if share == 1 {
					continue
				}
			}
			scenario.VisitChunkSizes(s.Commands, func(_ string, value *string) {
				n, err := strconv.Atoi(*value)
				if set[s.Protocol]++; err == nil && n > 0 && chunks*n < bytes-1 {
					t.Errorf("%s seed %d: a chunk is to have %d bytes, and those of one key are %d",
						p.Name, seed, n, bytes)
				}
			})
		}
	}
	if set["4.2"] == 0 || set[""] < 100 {
		t.Errorf("only so many sizes were set: %v", set)
	}
}
