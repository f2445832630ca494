package harnesstest

import (
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
)

// TestSweeps tries one in a hundred of the faults of every base, and one in a thousand of those of
// the scripts of activities; the command line tries them all.
func TestSweeps(t *testing.T) {
	for _, base := range generate.Bases() {
		every := 100
		if base.Scripted() {
			every = 1000
		}
		t.Run(base.Name, func(t *testing.T) { Sweep(t, SweepSuite{Base: base, Every: every}) })
	}
}
