package kvtarget

import (
	"fmt"
	"math"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// The size of a drawn scenario.
const (
	keys    = 12
	clients = 4
	ops     = 120
	span    = 240 * time.Millisecond
)

// Draw draws the scenario of a seed for the target of that name: clients that use few keys, a
// movement there and one back, and up to three faults.
func Draw(target string, seed uint64) *scenario.Scenario {
	from := keyed.New(seed)
	s := Base(target, seed)
	s.Name, s.Planned = "drawn", false
	s.Migrations = append(s.Migrations, scenario.Migration{
		ID: 2, At: span * 3 / 4, NS: "kv.data", Min: math.MinInt64, Max: keys / 2, To: 0,
	})
	for id := range from.IntN("faults", 4) {
		ask := func(what string, n int) int {
			return from.IntN(fmt.Sprintf("fault/%d/%s", id, what), n)
		}
		s.Faults = append(s.Faults, scenario.Fault{
			ID:     id + 1,
			Kind:   []string{"crash", "partition", "slow-disk", "power-loss"}[ask("kind", 4)],
			When:   scenario.Trigger{At: time.Duration(ask("at", 240)) * time.Millisecond},
			Target: []string{"shard-a.0", "shard-b.0", "config.0"}[ask("node", 3)],
			For:    time.Duration(50+ask("for", 300)) * time.Millisecond,
		})
	}
	return s
}

// Base is Draw with one movement and without faults: what a sweep begins with.
func Base(target string, seed uint64) *scenario.Scenario {
	from := keyed.New(seed)
	s := &scenario.Scenario{
		Name:    "base",
		Seed:    seed,
		Target:  target,
		Planned: true,
		Topology: scenario.Topology{
			Shards:        2,
			Members:       1,
			ConfigMembers: 1,
			Routers:       1,
			Clients:       clients,
		},
		Collections: []scenario.Collection{{
			NS:      "kv.data",
			Keys:    keys,
			Preload: keys / 2,
			Bounds:  []int64{keys / 2},
		}},
		FaultsEnd: 2 * time.Second,
		Limit:     30 * time.Second,
	}
	for id := 1; id <= ops; id++ {
		ask := func(what string, n int) int {
			return from.IntN(fmt.Sprintf("op/%d/%s", id, what), n)
		}
		o := scenario.Op{
			ID:     id,
			At:     span * time.Duration(id) / ops,
			Client: ask("client", clients),
			NS:     "kv.data",
			Key:    int64(ask("key", keys)),
			Kind: []scenario.OpKind{
				scenario.Read, scenario.Read, scenario.Write, scenario.Write, scenario.Delete,
				scenario.CAS,
			}[ask("kind", 6)],
		}
		if o.Kind.Writes() {
			o.Value = fmt.Sprintf("w%d", id)
		}
		s.Ops = append(s.Ops, o)
	}
	s.Migrations = []scenario.Migration{
		{ID: 1, At: span / 4, NS: "kv.data", Min: math.MinInt64, Max: keys / 2, To: 1},
	}
	return s
}
