package harness

import (
	"testing"

	"github.com/shardproof/shardproof/system/sim"
)

// BenchmarkStandardSeed is one checked run of the standard size: 3 shards of 3 members, 300 operations, 8 faults.
func BenchmarkStandardSeed(b *testing.B) { benchmark(b, "all") }

// BenchmarkDenseSeed is the default soak: twice as many migrations.
func BenchmarkDenseSeed(b *testing.B) { benchmark(b, "dense") }

// BenchmarkSweepSeed is one checked run of the sweep's size: 2 shards, 40 operations, 1 migration, 1 fault.
func BenchmarkSweepSeed(b *testing.B) { benchmark(b, "sweep") }

func benchmark(b *testing.B, profile string) {
	p, err := FindProfile(profile)
	if err != nil {
		b.Fatal(err)
	}
	pool := &sim.Pool{}
	defer pool.Close()
	total := NewCounters()
	seed := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		seed++
		r, err := Run(Draw(seed, p), Options{Pool: pool})
		if err != nil {
			b.Fatal(err)
		}
		total.Add(r.Counters)
	}
	ended := float64(total.Committed + total.Aborted)
	b.ReportMetric(float64(total.Steps)/float64(b.N), "steps/op")
	b.ReportMetric(ended/float64(b.N), "migrations/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "seeds/s")
	b.ReportMetric(ended/b.Elapsed().Seconds(), "migrations/s")
}
