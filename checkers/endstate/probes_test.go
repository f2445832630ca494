package endstate

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// Each trial that failed, and each that has no answer, is a violation of its own.
func TestProbes(t *testing.T) {
	moved := Trial{What: "move k=1 of test.docs to shard-b", NS: "test.docs"}
	refused, again := moved, moved
	refused.Refused, again.Again = "ConflictingOperationInProgress: a lock is held", true
	for name, c := range map[string]struct {
		trials Trials
		want   []verdict.Signature
	}{
		"nothing tried":  {Trials{}, nil},
		"done":           {Trials{Made: []Trial{moved}}, nil},
		"refused":        {Trials{Made: []Trial{moved, refused}}, []verdict.Signature{probeFailed}},
		"executed again": {Trials{Made: []Trial{again}}, []verdict.Signature{probeForgotten}},
		"without an answer": {
			Trials{Made: []Trial{moved}, Open: []string{"open a scan"}},
			[]verdict.Signature{probeNotCompleted},
		},
		"all": {
			Trials{Made: []Trial{refused, again}, Open: []string{"open a scan"}},
			[]verdict.Signature{probeFailed, probeForgotten, probeNotCompleted},
		},
	} {
		v := c.trials.Check()
		var got []verdict.Signature
		for _, violation := range v.Violations {
			got = append(got, violation.Signature)
		}
		if !slices.Equal(got, c.want) || v.Checked != len(c.trials.Made) {
			t.Errorf("%s: %v of %d, want %v", name, got, v.Checked, c.want)
		}
	}
}
