package live

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/timeline"
)

// Timeline is what the clients of a history saw in each second, and the faults that were in force.
// What was there before the run counts for nothing.
func Timeline(name string, ops []histories.Op, faults []timeline.Fault) *timeline.Timeline {
	t := &timeline.Timeline{Header: timeline.Header{Name: name}, Faults: faults}
	var seconds []second
	for i := range ops {
		op := &ops[i]
		if op.ReturnAt == 0 {
			continue
		}
		n := int(op.ReturnAt / int64(time.Second))
		for len(seconds) <= n {
			seconds = append(seconds, second{})
		}
		seconds[n].add(op)
	}
	for n, s := range seconds {
		t.Samples = append(t.Samples, s.sample(float64(n+1)))
	}
	return t
}

// second is what ended in a second of a run.
type second struct {
	took   []time.Duration
	failed int
}

func (s *second) add(op *histories.Op) {
	s.took = append(s.took, time.Duration(op.ReturnAt-op.CallAt))
	if op.Outcome != histories.OK {
		s.failed++
	}
}

func (s *second) sample(at float64) timeline.Sample {
	slices.Sort(s.took)
	return timeline.Sample{
		At: at, Operations: len(s.took), Failed: s.failed,
		P50: s.percentile(50), P99: s.percentile(99),
	}
}

// percentile is a latency in milliseconds that so many percent of the operations did not exceed; 0
// when there were none.
func (s *second) percentile(percent int) float64 {
	if len(s.took) == 0 {
		return 0
	}
	rank := (len(s.took)*percent + 99) / 100
	return float64(s.took[rank-1].Microseconds()) / 1000
}
