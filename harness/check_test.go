package harness

import "testing"

// TestSeeds is what a user of the package writes.
func TestSeeds(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	Check(t, Suite{Seeds: seeds})
}

// TestSweepSeeds runs the small scenarios of the sweep.
func TestSweepSeeds(t *testing.T) {
	p, err := FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	Check(t, Suite{Profile: p, Seeds: 40})
}
