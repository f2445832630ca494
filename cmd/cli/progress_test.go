package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/runner"
)

// TestProgressLine: the line says how much is left, and none is longer than the terminal is wide.
func TestProgressLine(t *testing.T) {
	s := &campaign.Summary{Counters: *runner.NewCounters(), Wanted: 4000, Wall: 10 * time.Second}
	s.Runs = 1000
	line := (&progress{}).line(s)
	if !strings.HasPrefix(line, "1,000 of 4,000 seeds, 0 failed, 100/s, 10s, 30s left, ") {
		t.Errorf("the line is %q", line)
	}
	for _, columns := range []int{10, 60, 79, 200} {
		if cut := []rune(cutLine(line, columns)); len(cut) >= columns {
			t.Errorf("%d columns of %d: %q", len(cut), columns, string(cut))
		}
	}
	s.Wanted = 0
	if line := (&progress{}).line(s); strings.Contains(line, "left") {
		t.Errorf("a campaign without an end has some left: %q", line)
	}
}
