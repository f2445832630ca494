package catalog_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// checkEntries: what is found without looking at everything is what looking at everything finds.
func checkEntries(t *rapid.T, table *catalog.Table) {
	bound := rapid.Int64Range(-1, 31)
	rng := key.Range{Min: key.Int(bound.Draw(t, "from")), Max: key.Int(bound.Draw(t, "to"))}
	if rapid.Bool().Draw(t, "to the end") {
		rng.Max = key.Max
	}
	var owning []string
	var begin []catalog.Chunk
	for c := range table.Overlapping(rng) {
		if !slices.Contains(owning, c.Shard) {
			owning = append(owning, c.Shard)
		}
		if rng.Contains(c.Min) {
			begin = append(begin, c)
		}
	}
	if diff := cmp.Diff(owning, table.Owning(rng)); diff != "" {
		t.Fatalf("owning %v: %s", rng, diff)
	}
	var entries []catalog.Chunk
	owners := table.Owners()
	for e := range table.Beginning(rng) {
		c := e.Chunk()
		if owners[e.Owner()] != c.Shard || e.Min() != c.Min || e.Jumbo() != c.Jumbo {
			t.Fatalf("the entry of %v says %s, %v", c, owners[e.Owner()], e.Min())
		}
		entries = append(entries, c)
	}
	if diff := cmp.Diff(begin, entries); diff != "" {
		t.Fatalf("beginning in %v: %s", rng, diff)
	}
}
