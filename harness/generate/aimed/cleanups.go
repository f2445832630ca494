package aimed

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// arrivalShare is how many percent of the cleanups of 4.2 have a range arrive while they ask the
// config server what is to be kept.
const arrivalShare = 70

// arriveDuringCleanups has a range arrive while somebody cleans up, after the other migrations have
// ended and before the catalog is read (protocol 10.5). Its commit is still on its way then.
func arriveDuringCleanups(own keyed.Source, s *scenario.Scenario) {
	if s.Protocol != "4.2" {
		return
	}
	for i, c := range slices.Clone(s.Commands) {
		each := own.Fork(uint64(i))
		moves := slices.DeleteFunc(slices.Clone(s.Migrations), func(m scenario.Migration) bool {
			return m.NS != c.Name
		})
		if c.Do != commandkind.CleanupOrphaned || len(moves) == 0 ||
			!each.Chance("arrives", arrivalShare) {
			continue
		}
		m := moves[each.IntN("which", len(moves))]
		m.ID = s.NextMigration()
		m.At = c.At + time.Duration(10+each.IntN("behind", 140))*time.Millisecond
		m.To = each.IntN("to", s.Topology.Shards)
		s.Migrations = append(s.Migrations, m)
		commits := scenario.Trigger{Site: failpoint.DonorSendConfig.String(), Nth: 1}
		s.AddFaults(scenario.Fault{
			Kind: "hold", Target: scenario.ShardName(m.To) + ".*>config.*",
			When: scenario.Trigger{At: c.At},
			Args: []scenario.Setting{
				{Name: "messages", Value: "LogChange"}, {Name: "count", Value: "1"},
			},
			For: 2 * time.Second, Until: &commits,
		}, scenario.Fault{
			Kind: "hold", Target: "*>config.*", When: scenario.Trigger{At: c.At},
			Args: []scenario.Setting{
				{Name: "messages", Value: "CommitChunkMigration"}, {Name: "count", Value: "1"},
			},
			For: time.Duration(200+each.IntN("committed", 800)) * time.Millisecond,
		})
	}
}
