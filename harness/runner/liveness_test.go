package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
)

// TestUnfinished cuts a run off in the middle: it is told which operations and moves have not
// ended, and what is waited for.
func TestUnfinished(t *testing.T) {
	s := smallSeed(t, 1)
	s.Faults, s.FaultsEnd, s.Limit = nil, s.Migrations[0].At+4*time.Millisecond, time.Millisecond
	r, err := Run(s, Options{Targets: store})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Verdicts, func(v checkers.Verdict) bool {
		return v.Checker == endstate.Liveness.Name
	})
	v := r.Verdicts[i]
	text := ""
	for _, one := range v.Violations {
		text += one.String() + "\n"
	}
	for _, want := range []string{"move 1", "operation ", "client ", "donor shard-"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
}
