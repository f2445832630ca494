package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/model"
)

// TestSameSince: what gives a shard a new major version and leaves it what it has is told to no
// shard, so its members may go by an older one; of a permission only the primaries are told. Not so
// after a migration.
func TestSameSince(t *testing.T) {
	const majority = "\nmajority config.0 1 2\n"
	for name, c := range map[string]struct {
		line                 string
		primary, secondaries uint32
	}{
		"a split":        {"table 1 2 split -..c=a@2|0 c..m=a@2|1", 1, 1},
		"a cleared flag": {"table 1 2 clearJumboFlag -..m=a@2|0", 1, 1},
		"a permission":   {"table 1 2 forbidMigrations -..m=a@2|0", 2, 1},
		"a migration":    {"table 1 2 move_x -..c=b@2|0<a c..m=a@2|1", 2, 2},
	} {
		want := model.Same{Primary: c.primary, Secondaries: c.secondaries}
		if got := observe(t, opening+c.line+majority).SameSince("test.docs")["a"]; got != want {
			t.Errorf("after %s major versions %d will do for shard a, not %d", name, got, want)
		}
	}
}
