package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// targetShare is how many percent of the renames that may replace a collection meet a migration of
// that one.
const targetShare = 50

// moveTargets has a range of a collection move that a rename is about to replace.
func moveTargets(s *scenario.Scenario, d keyed.Source) {
	own := d.Fork(0x7e)
	next := nextMigration(s)
	for i := range s.Ops {
		op := &s.Ops[i]
		who := fmt.Sprintf("rename/%d", op.ID)
		at := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
			return c.NS == op.Into && !c.Unsharded
		})
		if op.Kind != scenario.Rename || !op.DropTarget || at < 0 ||
			!own.Chance(who+"/meets", targetShare) {
			continue
		}
		before := time.Duration(own.IntN(who+"/before", 60)-10) * time.Millisecond
		m := scenario.Migration{
			ID: next, NS: op.Into, Min: scenario.MinKey, Max: scenario.MaxKey,
			At: max(0, op.At-before), To: own.IntN(who+"/to", s.Topology.Shards),
		}
		if bounds := s.Collections[at].Bounds; len(bounds) > 0 {
			m.Max = bounds[0]
		}
		s.Migrations = append(s.Migrations, m)
		next++
	}
}
