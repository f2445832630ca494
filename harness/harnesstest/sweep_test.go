package harnesstest

import (
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
)

// TestSweeps tries one in a hundred of the faults of every base; the command line tries them all.
func TestSweeps(t *testing.T) {
	for _, base := range generate.Bases() {
		t.Run(base.Name, func(t *testing.T) { Sweep(t, SweepSuite{Base: base, Every: 100}) })
	}
}
