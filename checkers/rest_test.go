package checkers_test

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories/event"
)

// TestLacking: a balancer that has nothing to do may not leave a chunk where it must not be, nor shards uneven.
func TestLacking(t *testing.T) {
	const ns, chunk = "test.docs", 100
	lying := func(shards ...string) (all []checkers.Lying) {
		bounds := []string{"a", "c", "e", "g", "i"}
		for i, s := range shards {
			name, jumbo := strings.CutSuffix(s, "!")
			all = append(all, checkers.Lying{Min: bounds[i], Max: bounds[i+1], Shard: name, Jumbo: jumbo})
		}
		return all
	}
	zone := func(lo, hi string) event.Event {
		return event.Event{Value: event.ZoneRange, NS: ns, Min: lo, Max: hi, ID: "east"}
	}
	drains := event.Event{Value: event.ShardDraining, Peer: "b"}
	for _, c := range []struct {
		name  string
		said  []event.Event
		lies  []checkers.Lying
		bytes map[string]int64
		want  string
	}{
		{"equal counts", nil, lying("a", "b"), nil, ""},
		{"one apart", nil, lying("a", "a", "b"), nil, ""},
		{"two apart", nil, lying("a", "a"), nil, "a has 2 chunks"},
		{"nothing can move", nil, lying("a!", "a!"), nil, ""},
		{"draining", []event.Event{drains}, lying("a", "b"), nil, "which drains"},
		{"jumbo on a shard that drains", []event.Event{drains}, lying("a", "b!"), nil, ""},
		{"out of its zone", []event.Event{zone("a", "c")}, lying("b", "a"), nil, "of zone east"},
		{"in its zone", []event.Event{zone("a", "c")}, lying("a", "a"), nil, ""},
		{"across a boundary", []event.Event{zone("b", "c")}, lying("a", "a"), nil, "crosses"},
		{"sizes", nil, lying("a", "b"), map[string]int64{"a": 500, "b": 99}, "a has 500 bytes"},
		{"sizes less than three chunks apart", nil, lying("a", "b"), map[string]int64{"a": 500, "b": 210}, ""},
	} {
		o := checkers.NewOracle(nil)
		said := append([]event.Event{{Value: event.ShardAdded, Peer: "a", ID: "east"}, {Value: event.ShardAdded, Peer: "b"}}, c.said...)
		o.Observe(&event.Event{Kind: event.Elected, Shard: "config", Node: "config.0", Term: 1})
		for i, e := range said {
			e.Kind, e.Shard, e.Node, e.Term, e.Index, e.Step = event.ClusterChanged, "config", "config.0", 1, uint64(i+1), uint64(i+1)
			o.Observe(&e)
		}
		got := o.Lacking(&checkers.Rest{NS: ns, BySize: c.bytes != nil, ChunkBytes: chunk, Chunks: c.lies, Bytes: c.bytes})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: lacking %q, not %q", c.name, got, c.want)
		}
	}
}
