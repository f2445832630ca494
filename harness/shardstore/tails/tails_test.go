package tails

import (
	"testing"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
)

// A router reads a shard from where it has read it to, or from where a stream or the shard's part in
// it begins.
func TestSent(t *testing.T) {
	const ns = "test.docs"
	for name, c := range map[string]struct {
		shard string
		after hlc.Timestamp
		right bool
	}{
		"where its answer ended":                {"a", 20, true},
		"later than that":                       {"a", 25, false},
		"another shard, where the stream began": {"b", 10, true},
		"another shard, later":                  {"b", 20, false},
		"where it was announced":                {"c", 15, true},
		"later than it was announced":           {"c", 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r Routers
			x := &env.Exchange{From: "router.0"}
			opens := &command.ReadChanges{NS: ns, After: 10, Open: true}
			if wrong := r.Sent(x, "a", opens); wrong != "" {
				t.Fatalf("a stream that begins: %s", wrong)
			}
			r.Ended(x, "a", opens, &command.ChangesRead{
				Upto:    20,
				Changes: []command.Change{{Shard: "c", Token: command.Token{TS: 15}}},
			})
			wrong := r.Sent(x, c.shard, &command.ReadChanges{NS: ns, After: c.after})
			if (wrong == "") != c.right {
				t.Errorf("got %q", wrong)
			}
		})
	}
}
