package wire_test

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// TestOutLeavesNoNames: a collection that is made again and again by $out does not keep the names
// under which each of its contents was written.
func TestOutLeavesNoNames(t *testing.T) {
	c := simulate(t, 1)
	ask := c.conversation(c.routers[0])
	for n := range 3 {
		ask(out("results", has(n, n)))
	}
	c.wantNames("docs", "results")
	for _, set := range []string{"shard-a", "shard-b"} {
		kept := c.cluster.Member(c.cluster.Primary(set)).Store().Get(
			shard.ParticipationsNS, string(key.String("test.results")), store.Latest)
		if strings.Contains(kept.String(), "agg_out") {
			t.Errorf("%s has %v on record", set, kept)
		}
	}
}
