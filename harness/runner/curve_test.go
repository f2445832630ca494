package runner

import (
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
)

// TestCurveChangesNothing runs a scenario with and without one.
func TestCurveChangesNothing(t *testing.T) {
	p, err := generate.FindProfile("balancer")
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for _, curve := range []bool{false, true} {
		r, err := Run(generate.Draw(3, p), Options{Targets: store, Curve: curve})
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, r.HashText())
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the run hashes to %s, and with a curve to %s", hashes[0], hashes[1])
	}
}
