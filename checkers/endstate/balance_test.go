package endstate

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestLacking: a balancer that has nothing to do may not leave a chunk where it must not be, nor
// shards uneven.
func TestLacking(t *testing.T) {
	const ns, chunk = "test.docs", 100
	placed := func(shards ...string) (all []PlacedChunk) {
		bounds := []string{"a", "c", "e", "g", "i"}
		for i, s := range shards {
			name, jumbo := strings.CutSuffix(s, "!")
			all = append(all, PlacedChunk{
				Min:   bounds[i],
				Max:   bounds[i+1],
				Shard: name,
				Jumbo: jumbo,
			})
		}
		return all
	}
	zone := func(lo, hi string) trace.ClusterChangedEvent {
		return trace.ClusterChangedEvent{
			Change: trace.ZoneRange, NS: ns, Min: lo, Max: hi, Zones: "east",
		}
	}
	drains := trace.ClusterChangedEvent{Change: trace.ShardDraining, Peer: "b"}
	for _, c := range []struct {
		name  string
		said  []trace.ClusterChangedEvent
		lies  []PlacedChunk
		bytes map[string]int64
		want  string
	}{
		{"equal counts", nil, placed("a", "b"), nil, ""},
		{"one apart", nil, placed("a", "a", "b"), nil, ""},
		{"two apart", nil, placed("a", "a"), nil, "a has 2 chunks"},
		{"nothing can move", nil, placed("a!", "a!"), nil, ""},
		{
			"draining", []trace.ClusterChangedEvent{drains}, placed("a", "b"), nil,
			"which is draining",
		},
		{
			"jumbo on a shard that drains", []trace.ClusterChangedEvent{drains},
			placed("a", "b!"), nil, "",
		},
		{
			"out of its zone", []trace.ClusterChangedEvent{zone("a", "c")}, placed("b", "a"), nil,
			"belongs to zone east",
		},
		{"in its zone", []trace.ClusterChangedEvent{zone("a", "c")}, placed("a", "a"), nil, ""},
		{
			"across a boundary", []trace.ClusterChangedEvent{zone("b", "c")}, placed("a", "a"),
			nil, "crosses",
		},
		{"sizes", nil, placed("a", "b"), map[string]int64{"a": 500, "b": 99}, "a has 500 bytes"},
		{
			"sizes less than three chunks apart", nil, placed("a", "b"),
			map[string]int64{"a": 500, "b": 210}, "",
		},
	} {
		said := append([]trace.ClusterChangedEvent{
			{Change: trace.ShardAdded, Peer: "a", Zones: "east"},
			{Change: trace.ShardAdded, Peer: "b"},
		}, c.said...)
		var cluster *model.Cluster
		for _, e := range said {
			cluster = cluster.With(e.Event())
		}
		state := BalanceState{
			NS: ns, BySize: c.bytes != nil, ChunkBytes: chunk, Chunks: c.lies, Bytes: c.bytes,
		}
		got := state.Lacking(cluster, func(lo, hi string) string { return lo + " to " + hi })
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: lacking %q, not %q", c.name, got, c.want)
		}
	}
}
