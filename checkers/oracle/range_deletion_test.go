package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// A shard that answers that its deletions are done has none of those on record that were there when
// it was asked.
func TestCleanUp(t *testing.T) {
	const ready, over = moved + "task a.0 m1 - m ready 1\n", "task a.0 m1 - m done 1\n"
	for name, c := range map[string]struct {
		before, between string
		failed          bool
		signature       verdict.Signature
	}{
		"it is done":             {before: ready, between: "clean a.0 1 2 c\n" + over},
		"it is not done":         {before: ready, signature: cleanedTooEarly},
		"the answer is an error": {before: ready, failed: true},
		"it came later":          {before: moved, between: "task a.0 m1 - m ready 1\n"},
		"it waits for the decision": {
			before: asked + "task a.0 m1 - m pending 0\n", signature: cleanedTooEarly,
		},
		"the collection was dropped": {
			before: ready, between: "table 1 3 drop\nmajority config.0 1 3\n",
		},
		"nobody counts on its record": {before: moved + "task a.0 m1 - m ready -1\n"},
		"another collection":          {before: given + "plain task a.0 m1 - m ready 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, c.before)
			answered := s.o.CleansUp("a", "test.docs")
			s.lines(t, c.between)
			answered(!c.failed)
			expectOf(t, s.o, deletionRule, c.signature)
		})
	}
}
