package runner

import (
	"testing"

	"github.com/shardproof/shardproof/checkers"
)

// Two bugs that clients see alike are two kinds, told apart by what went wrong first with the key;
// what went wrong with another key has no part in it.
func TestKind(t *testing.T) {
	lost := checkers.Violation{Signature: "lost-write", Key: "7", Ops: []int{1}}
	seen := func(key string, signature checkers.Signature, step uint64) checkers.Violation {
		return checkers.Violation{Signature: signature, Key: key, Events: []uint64{step}}
	}
	for want, inside := range map[string][]checkers.Violation{
		"lost-write":                    {seen("8", "write-by-non-owner", 5)},
		"lost-write/write-by-non-owner": {seen("7", "write-by-non-owner", 5)},
		"lost-write/rolled-back": {seen("7", "deleted-owned", 9),
			seen("7", "rolled-back", 5)},
	} {
		r := Result{Verdicts: []checkers.Verdict{
			{Checker: "unique-writes", Outcome: checkers.Fail,
				Violations: []checkers.Violation{lost}},
			{Checker: "inside", Outcome: checkers.Fail, Violations: inside},
		}}
		if got := r.Kind(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r := Result{Verdicts: []checkers.Verdict{{Checker: "inside", Outcome: checkers.Pass}}}
	if got := r.Kind(); got != "" {
		t.Errorf("a run that passed has the kind %s", got)
	}
}
