package checkers

import (
	"runtime"
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/workloads"
)

// One standard run: 300 operations of 6 clients. The goal is 1 ms.
func BenchmarkStandardRun(b *testing.B) {
	ops := play(1, plan(1, 40, 300, 6), 6, 3)
	b.ReportAllocs()
	for b.Loop() {
		judge(b, ops)
	}
}

// A million operations of 50 clients on 1000 keys, without lists and scans, whose results would be
// the larger part. The goal is 2 s and 1 GiB.
func BenchmarkMillion(b *testing.B) {
	s := mixed(1, 1000, 1_000_000, 50, []workloads.Share{
		{Name: "registers", Weight: 50},
		{Name: "inserts", Weight: 25},
		{Name: "upserts", Weight: 25},
	})
	ops := play(1, s, 50, 1)
	s = nil
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportAllocs()
	for b.Loop() {
		judge(b, ops)
	}
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-of-history")
}

func judge(b *testing.B, ops []histories.Op) {
	if v := Worst(Check(ops, Limits{})); v.Outcome != Pass {
		b.Fatalf("%s: %s %v %v", v.Checker, v.Outcome, v.Violations, v.Undecided)
	}
}
