package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
)

// TestArrival: when the recipient says that it has everything, a majority of its shard has it.
func TestArrival(t *testing.T) {
	const says = "receive b.0 m1 - m kEnteredCritSec\n"
	arrives := strings.NewReplacer(
		says, "", "block a.0 m1\n", "block a.0 m1\n"+says,
	).Replace(known)
	for name, c := range map[string]struct {
		text string
		want verdict.Signature
	}{
		"everything": {arrives, ""},
		"a document before the majority": {
			strings.NewReplacer("majority b.0 1 2\n", "", says, says+"majority b.0 1 2\n").Replace(arrives),
			saidTooEarly,
		},
		"no history yet": {
			strings.NewReplacer("import b.0 1 2 c s 5 0\nmajority b.0 1 2\n", "majority b.0 1 1\n",
				says, says+"import b.0 1 2 c s 5 0\nmajority b.0 1 2\n").Replace(arrives),
			saidTooEarly,
		},
		"another donor leads": {
			strings.NewReplacer("majority b.0 1 2\n", "",
				says, "elected a.1 2 1 1:1\n"+says+"majority b.0 1 2\n").Replace(arrives),
			"",
		},
	} {
		o := observeIn(t, migrationmodel.V80, c.text)
		got := verdict.Signature("")
		for _, v := range o.Verdicts() {
			if v.Checker == durabilityRule.Name && len(v.Violations) > 0 {
				got = v.Violations[0].Signature
			}
		}
		if got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
