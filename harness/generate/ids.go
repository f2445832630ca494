package generate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// sharedIDs is how many percent of the seeds have documents of one _id on several shards.
const sharedIDs = 20

// shareIDs gives a few of the highest keys, which are on another shard, the _id of the lowest. A
// shard that has one of two such documents refuses the other, and a range that has it does not
// arrive there: so there are few, and none where a shard has to get rid of all that it has.
func shareIDs(own keyed.Source, s *scenario.Scenario, z size, operated bool) {
	c := &s.Collections[0]
	apart := len(c.Bounds)%z.topology.Shards != 0
	if z.moves <= 1 || operated || c.Hashed || c.Share > 1 || !apart ||
		!own.Chance("shared ids", sharedIDs) {
		return
	}
	c.IDs = c.Keys - keyed.Pick(own, "how many", 1, 3, 6)
	if own.Chance("all exist", 70) {
		c.Preload = c.Keys
	}
	c.Preload = max(c.Preload, c.IDs)
}

// deleteShared has documents that share their _id deleted when their range has begun to move: what
// arrives of them then is the _id alone, and it is that of another document there.
func deleteShared(own keyed.Source, s *scenario.Scenario) {
	c := &s.Collections[0]
	if c.IDs == 0 {
		return
	}
	for _, m := range s.Migrations {
		who := fmt.Sprintf("move/%d", m.ID)
		if m.NS != c.NS || !own.Chance(who+"/deletes", 70) {
			continue
		}
		first := 0
		if own.Chance(who+"/high", 50) {
			first = c.IDs
		}
		at := m.At + time.Duration(own.IntN(who+"/into", 16))*time.Millisecond
		for key := first; key < first+c.Keys-c.IDs; key++ {
			s.Ops = append(s.Ops, scenario.Op{
				ID: len(s.Ops) + 1, At: at, Client: key % s.Topology.Clients,
				NS: c.NS, Kind: scenario.Delete, Key: int64(key),
			})
		}
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}
