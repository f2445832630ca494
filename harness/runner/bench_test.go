//go:build linux

package runner

import (
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/system/sim"
)

// BenchmarkStandardSeed is one checked run of the standard size: 3 shards of 3 members, 300
// operations, 8 faults.
func BenchmarkStandardSeed(b *testing.B) { benchmark(b, "all-faults") }

// BenchmarkDenseSeed is the default soak: twice as many migrations.
func BenchmarkDenseSeed(b *testing.B) { benchmark(b, "contended") }

// BenchmarkSweepSeed is one checked run of the sweep's size: 2 shards, 40 operations, 1 migration,
// 1 fault.
func BenchmarkSweepSeed(b *testing.B) { benchmark(b, "sweep") }

// benchmark reports processor time rather than time on the clock, which on a shared machine says
// little, collects garbage about as seldom as the command does, and tells the most memory that the
// process has held.
func benchmark(b *testing.B, profile string) {
	p, err := generate.FindProfile(profile)
	if err != nil {
		b.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	pool := &sim.Pool{}
	defer pool.Close()
	total := NewCounters()
	seed := uint64(0)
	b.ReportAllocs()
	before, _ := used(b)
	for b.Loop() {
		seed++
		r, err := Run(generate.Draw(seed, p), Options{Targets: store, Pool: pool})
		if err != nil {
			b.Fatal(err)
		}
		total.Add(r.Counters)
	}
	after, peak := used(b)
	cpu, ended := (after - before).Seconds(), float64(total.Committed+total.Aborted)
	b.ReportMetric(float64(total.Steps)/float64(b.N), "steps/op")
	b.ReportMetric(ended/float64(b.N), "migrations/op")
	b.ReportMetric(1000*cpu/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(b.N)/cpu, "seeds/cpu-s")
	b.ReportMetric(ended/cpu, "migrations/cpu-s")
	b.ReportMetric(peak, "peak-MiB")
}

// used is the processor time that the process has taken, and the most memory it has held, in MiB.
func used(b *testing.B) (cpu time.Duration, peak float64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	// Linux counts KiB.
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) / 1024
}
