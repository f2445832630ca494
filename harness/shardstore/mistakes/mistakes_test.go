package mistakes

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/system/key"
)

// TestMistakes: scenarios draw every mistake that there is, each of which says why it is one.
func TestMistakes(t *testing.T) {
	drawn := slices.Sorted(slices.Values(
		slices.Concat(commandkind.Mistakes, commandkind.LastingMistakes)))
	if !slices.Equal(drawn, Names()) {
		t.Errorf("drawn are %v, and there are %v", drawn, Names())
	}
	at := Place{
		NS: "test.docs", Key: key.Pattern{Field: "k"}, Lo: key.Int(1), Hi: key.Int(3), Shard: "a",
	}
	for _, name := range Names() {
		m, _ := Named(name)
		if m.Why == "" || m.Request(at) == nil ||
			m.Lasting != slices.Contains(commandkind.LastingMistakes, name) {
			t.Errorf("the mistake %s is %+v", name, m)
		}
	}
	if _, known := Named("none"); known {
		t.Error("a mistake that there is not is known")
	}
}
