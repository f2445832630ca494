package harnesstest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
)

// TestSeeds is what a user of the package writes.
func TestSeeds(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	Check(t, Suite{Seeds: seeds})
}

// TestSweepSeeds runs the small scenarios of the sweep.
func TestSweepSeeds(t *testing.T) { Check(t, Suite{Profile: smallProfile(t), Seeds: 40}) }

func smallProfile(t *testing.T) generate.Profile {
	t.Helper()
	p, err := generate.FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReplayFlag has the flag name a scenario file, which then is all that runs.
func TestReplayFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenario.txt")
	if err := os.WriteFile(
		file, []byte(generate.Draw(3, smallProfile(t)).String()), 0o644,
	); err != nil {
		t.Fatal(err)
	}
	if err := flag.Set("shardproof.replay", file); err != nil {
		t.Fatal(err)
	}
	defer func() { *replayFlag = "" }()
	suite := Suite{Profile: generate.Profile{Name: "unused"}}
	Check(t, suite)
}
