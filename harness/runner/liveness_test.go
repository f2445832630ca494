package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/sim"
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

// restless is a system in which what is outstanding changes from look to look.
type restless struct {
	target.System
	looks [][]string
}

func (r *restless) Outstanding() []string {
	now := r.looks[0]
	r.looks = r.looks[1:]
	return now
}

// What is outstanding is told if it is still so some time later: members of a replica set that is
// written to without end are behind at any moment.
func TestOutstandingLasts(t *testing.T) {
	system := &restless{looks: [][]string{{"a member is at 8 of 9", "a migration is recorded"}}}
	f := &finalChecks{stage: &stage{world: sim.New(sim.Options{}), system: system}}
	left := []string{"a migration is recorded", "a member is at 5 of 6"}
	if got := f.lasting(left); !slices.Equal(got, []string{"a migration is recorded"}) {
		t.Errorf("what lasts is %q", got)
	}
}
