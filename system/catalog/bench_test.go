package catalog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// wide makes a table of so many chunks, spread over the shards in turn.
func wide(b *testing.B, shards, chunks int) *catalog.Table {
	b.Helper()
	names := make([]string, shards)
	for i := range names {
		names[i] = fmt.Sprintf("shard-%04d", i)
	}
	first, err := catalog.First(coll, tens(chunks-1), names)
	if err != nil {
		b.Fatal(err)
	}
	made, err := catalog.NewTable(coll, first)
	if err != nil {
		b.Fatal(err)
	}
	return made
}

func tens(n int) []key.Key {
	bounds := make([]key.Key, n)
	for i := range bounds {
		bounds[i] = key.Int(int64(i) * 10)
	}
	return bounds
}

// widths are the tables that show how cost grows with chunks, and with shards.
var widths = []struct{ shards, chunks int }{
	{3, 1_000},
	{3, 10_000},
	{3, 100_000},
	{3, 1_000_000},
	{1_000, 1_000_000},
}

func eachWidth(b *testing.B, run func(b *testing.B, t *catalog.Table)) {
	for _, w := range widths {
		t := wide(b, w.shards, w.chunks)
		b.Run(fmt.Sprintf("shards=%d/chunks=%d", w.shards, w.chunks), func(b *testing.B) {
			b.ReportAllocs()
			run(b, t)
		})
	}
}

// BenchmarkOwner is the targeting of one key: it grows with the logarithm of the chunks.
func BenchmarkOwner(b *testing.B) {
	eachWidth(b, func(b *testing.B, t *catalog.Table) {
		span := int64(t.Len()) * 10
		at := int64(0)
		for b.Loop() {
			at = (at + 7_919_777) % span
			t.Owner(key.Int(at))
		}
	})
}

// BenchmarkWith is an incremental refresh after one migration: it grows with the logarithm of the
// chunks and of the shards.
func BenchmarkWith(b *testing.B) {
	eachWidth(b, func(b *testing.B, t *catalog.Table) {
		c := t.Owner(key.Int(int64(t.Len()) * 5))
		changed, err := catalog.Move(t, c.Range, c.Shard, "shard-z", hlc.At(9),
			catalog.HistoryWindow{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := t.With(changed); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRefresh is what a router that missed so many migrations asks for and takes in: both are
// linear in the change, and grow with the logarithm of the chunks.
func BenchmarkRefresh(b *testing.B) {
	eachWidth(b, func(b *testing.B, t *catalog.Table) {
		for _, missed := range []int{1, 10, 100} {
			now := after(b, t, missed)
			b.Run(fmt.Sprintf("migrations=%d", missed), func(b *testing.B) {
				for b.Loop() {
					if _, err := t.With(now.Since(t.Version())); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*missed),
					"ns/migration")
			})
		}
	})
}

// after is the table after so many migrations.
func after(b *testing.B, t *catalog.Table, migrations int) *catalog.Table {
	b.Helper()
	for i := range migrations {
		c := t.Owner(key.Int(int64(i * 9_970 % t.Len() * 10)))
		changed, err := catalog.Move(t, c.Range, c.Shard, "shard-z", hlc.At(9),
			catalog.HistoryWindow{})
		if err != nil {
			b.Fatal(err)
		}
		if t, err = t.With(changed); err != nil {
			b.Fatal(err)
		}
	}
	return t
}

// BenchmarkOwning is the targeting of a scan of 100 chunks, and of one of everything, which ends
// when all shards are found.
func BenchmarkOwning(b *testing.B) {
	eachWidth(b, func(b *testing.B, t *catalog.Table) {
		middle := int64(t.Len()) * 5
		for name, rng := range map[string]key.Range{
			"100": {Min: key.Int(middle), Max: key.Int(middle + 1_000)}, "all": key.Everything,
		} {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					t.Owning(rng)
				}
			})
		}
	})
}

// BenchmarkBeginning is a pass over a whole table, as a round of the balancer makes.
func BenchmarkBeginning(b *testing.B) {
	eachWidth(b, func(b *testing.B, t *catalog.Table) {
		for b.Loop() {
			n := 0
			for range t.Beginning(key.Everything) {
				n++
			}
		}
	})
}
