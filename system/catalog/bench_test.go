package catalog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/clock"
	"github.com/shardproof/shardproof/system/key"
)

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func wide(b *testing.B, chunks int) *catalog.Table {
	bounds := make([]key.Key, chunks-1)
	for i := range bounds {
		bounds[i] = key.Int(int64(i) * 10)
	}
	return table(b, 3, bounds...)
}

func BenchmarkOwner(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		t, k := wide(b, n), key.Int(int64(n)*5)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				t.Owner(k)
			}
		})
	}
}

// BenchmarkWith is an incremental refresh after one migration.
func BenchmarkWith(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		t := wide(b, n)
		c := t.Owner(key.Int(int64(n) * 5))
		changed, err := catalog.Move(t, c.Range, c.Shard, "shard-z", clock.At(9), 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := t.With(changed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
