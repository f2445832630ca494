package policy_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// big makes shards and collections of 1,000,000 chunks together, of which the first half of the
// shards has nine in ten: a round finds a migration for every pair of shards.
func big(b *testing.B, shards, collections, zones int) ([]policy.Shard, []policy.Collection) {
	b.Helper()
	const chunks = 1_000_000
	var all []policy.Shard
	for i := range shards {
		all = append(all, policy.Shard{
			Name:  fmt.Sprintf("shard-%04d", i),
			Zones: []string{fmt.Sprint("zone-", i*max(zones, 1)/shards)},
		})
	}
	// A catalog that was read has a string of its own for each chunk's shard.
	owner := func(i int) string { return strings.Clone(all[uneven(i, shards)].Name) }
	colls := make([]policy.Collection, collections)
	for i := range colls {
		bounds := make([]key.Key, chunks/collections-1)
		for j := range bounds {
			bounds[j] = key.Int(int64(j))
		}
		colls[i] = policy.Collection{
			Table:      newTable(b, fmt.Sprint("test.c", i), bounds, owner, never),
			Bytes:      map[string]int64{},
			ChunkBytes: 128 << 20,
		}
		for z := range zones {
			at := func(n int) key.Key { return key.Int(int64(n * len(bounds) / zones)) }
			colls[i].Zones = append(colls[i].Zones, catalog.Zone{
				Range: key.Range{Min: at(z), Max: at(z + 1)},
				Name:  fmt.Sprint("zone-", z),
			})
		}
		for j, s := range all {
			colls[i].Bytes[s.Name] = int64(shards-j) << 30
		}
	}
	return all, colls
}

func uneven(i, shards int) int {
	if i%10 == 0 {
		return shards/2 + i/10%(shards/2)
	}
	return (i - i/10) % (shards / 2)
}

// BenchmarkRound is a round over 1,000,000 chunks. What it needs besides the tables is reported as
// bytes of a round, and the tables as MB-table.
func BenchmarkRound(b *testing.B) {
	for _, c := range []struct{ shards, collections, zones int }{
		{1_000, 1, 0},
		{1_000, 1, 100},
		{1_000, 100, 0},
		{100, 1, 0},
	} {
		before := heap()
		shards, colls := big(b, c.shards, c.collections, c.zones)
		table := heap() - before
		for name, choose := range map[string]func(*policy.Round, *policy.Collection){
			"count": (*policy.Round).ByCount, "size": (*policy.Round).BySize,
		} {
			b.Run(fmt.Sprintf("%s/shards=%d/collections=%d/zones=%d",
				name, c.shards, c.collections, c.zones), func(
				b *testing.B,
			) {
				b.ReportAllocs()
				var found int
				for b.Loop() {
					r := policy.NewRound(shards)
					for i := range colls {
						choose(r, &colls[i])
					}
					found = len(r.Migrations())
				}
				b.ReportMetric(float64(found), "migrations")
				b.ReportMetric(float64(table>>20), "MB-table")
			})
		}
		runtime.KeepAlive(colls)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
