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
const sharedIDs = 25

// shareIDs gives the highest key, which is on another shard, the _id of the lowest. A shard that
// has one of two such documents refuses the other, and a range that has it does not arrive there:
// so there is one pair, and none where a shard has to get rid of all that it has.
func shareIDs(own keyed.Source, s *scenario.Scenario, z size, operated bool) {
	c := &s.Collections[0]
	apart := len(c.Bounds)%s.Topology.Founders() != 0
	if z.moves <= 1 || operated || c.Hashed || c.Share > 1 || !apart ||
		!own.Chance("shared ids", sharedIDs) {
		return
	}
	c.IDs, c.Preload = c.Keys-1, c.Keys
}

// deleteShared has one of the documents deleted when its range has begun to move: what arrives of
// it then is the _id alone, and it is that of another document there. Before that it exists again.
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
		op := scenario.Op{NS: c.NS, Client: own.IntN(who+"/client", s.Topology.Clients)}
		switch {
		case m.Max == scenario.MaxKey || m.Max > int64(c.IDs):
			op.Key = int64(c.IDs)
		case m.Min > 0:
			continue
		}
		op.ID, op.At, op.Kind = len(s.Ops)+1, m.At-15*time.Millisecond, scenario.Insert
		op.Value = fmt.Sprintf("w%d", op.ID)
		s.Ops = append(s.Ops, op)
		op.ID, op.At, op.Kind = len(s.Ops)+1, m.At, scenario.Delete
		op.At += time.Duration(own.IntN(who+"/into", 16)) * time.Millisecond
		op.Value = ""
		s.Ops = append(s.Ops, op)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}
