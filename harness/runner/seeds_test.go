package runner

import (
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
)

// smallSeed is the scenario of a seed in the small size of sweeps.
func smallSeed(t *testing.T, seed uint64) *scenario.Scenario {
	t.Helper()
	p, err := generate.FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	return generate.Draw(seed, p)
}
