package live_test

import (
	"testing"

	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/histories"
)

// TestTimeline: operations count in the second in which they ended, the slowest included.
func TestTimeline(t *testing.T) {
	const ms = 1_000_000
	ops := []histories.Op{{Outcome: histories.OK}} // was there before
	for i := range int64(100) {
		ops = append(ops, histories.Op{
			CallAt: ms, ReturnAt: (2 + i) * ms, Outcome: histories.OK,
		})
	}
	ops = append(ops, histories.Op{CallAt: 0, ReturnAt: 2500 * ms, Outcome: histories.Unknown})
	got := live.Timeline("a", ops, nil).Samples
	if len(got) != 3 {
		t.Fatalf("%d seconds, want 3: %v", len(got), got)
	}
	if s := got[0]; s.At != 1 || s.Operations != 100 || s.Failed != 0 || s.P50 != 50 ||
		s.P99 != 99 {
		t.Errorf("the first second is %+v", s)
	}
	if s := got[1]; s.At != 2 || s.Operations != 0 || s.P99 != 0 {
		t.Errorf("the second second is %+v", s)
	}
	if s := got[2]; s.Operations != 1 || s.Failed != 1 || s.P50 != 2500 {
		t.Errorf("the third second is %+v", s)
	}
}
