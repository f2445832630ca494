package generate

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
)

// TestReadBelow: some seeds have scans of everything on secondaries that go on while ranges move,
// and have what is left of these deleted soon, which ends reads.
func TestReadBelow(t *testing.T) {
	seeds, scans := 0, 0
	for seed := range uint64(200) {
		s := Mixed(seed)
		n := 0
		for i := range s.Ops {
			op := &s.Ops[i]
			if op.Kind == scenario.Scan && op.Prefer == scenario.Secondary && op.Key == 0 &&
				op.To == int64(s.Collections[0].Keys) && op.Rest > 0 && op.Batch <= 2 &&
				op.Concern != "snapshot" && !op.Causal {
				n++
			}
		}
		soon := scenario.Setting{Name: "orphanCleanupDelaySecs", Value: "0s"}
		later := scenario.Setting{Name: soon.Name, Value: "5ms"}
		if n > 1 && (slices.Contains(s.Settings, soon) || slices.Contains(s.Settings, later)) {
			seeds, scans = seeds+1, scans+n
		}
	}
	if seeds < 10 || scans < 2*seeds {
		t.Errorf("%d seeds have %d such scans", seeds, scans)
	}
}
