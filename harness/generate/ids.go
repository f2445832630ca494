package generate

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// sharedIDs is how many percent of the seeds have documents of one _id on several shards.
const sharedIDs = 15

// shareIDs gives a few of the highest keys the _id of the lowest. A shard that has one of two such
// documents refuses the other, and a range that has it does not arrive there: so there are few, and
// none where a shard has to get rid of all that it has.
func shareIDs(own keyed.Source, s *scenario.Scenario, z size, operated bool) {
	c := &s.Collections[0]
	if z.moves <= 1 || operated || c.Hashed || c.Share > 1 || !own.Chance("shared ids", sharedIDs) {
		return
	}
	c.IDs = c.Keys - keyed.Pick(own, "how many", 1, 3, 6)
	c.Preload = min(c.Preload, c.IDs)
}
