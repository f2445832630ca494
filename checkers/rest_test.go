package checkers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestLacking: a balancer that has nothing to do may not leave a chunk where it must not be, nor shards uneven.
func TestLacking(t *testing.T) {
	const ns, chunk = "test.docs", 100
	lying := func(shards ...string) (all []checkers.PlacedChunk) {
		bounds := []string{"a", "c", "e", "g", "i"}
		for i, s := range shards {
			name, jumbo := strings.CutSuffix(s, "!")
			all = append(all, checkers.PlacedChunk{Min: bounds[i], Max: bounds[i+1], Shard: name, Jumbo: jumbo})
		}
		return all
	}
	zone := func(lo, hi string) trace.Event {
		return trace.Event{Value: trace.ZoneRange, NS: ns, Min: lo, Max: hi, ID: "east"}
	}
	drains := trace.Event{Value: trace.ShardDraining, Peer: "b"}
	for _, c := range []struct {
		name  string
		said  []trace.Event
		lies  []checkers.PlacedChunk
		bytes map[string]int64
		want  string
	}{
		{"equal counts", nil, lying("a", "b"), nil, ""},
		{"one apart", nil, lying("a", "a", "b"), nil, ""},
		{"two apart", nil, lying("a", "a"), nil, "a has 2 chunks"},
		{"nothing can move", nil, lying("a!", "a!"), nil, ""},
		{"draining", []trace.Event{drains}, lying("a", "b"), nil, "which is draining"},
		{"jumbo on a shard that drains", []trace.Event{drains}, lying("a", "b!"), nil, ""},
		{"out of its zone", []trace.Event{zone("a", "c")}, lying("b", "a"), nil, "belongs to zone east"},
		{"in its zone", []trace.Event{zone("a", "c")}, lying("a", "a"), nil, ""},
		{"across a boundary", []trace.Event{zone("b", "c")}, lying("a", "a"), nil, "crosses"},
		{"sizes", nil, lying("a", "b"), map[string]int64{"a": 500, "b": 99}, "a has 500 bytes"},
		{"sizes less than three chunks apart", nil, lying("a", "b"), map[string]int64{"a": 500, "b": 210}, ""},
	} {
		o := checkers.NewOracle(nil)
		said := append([]trace.Event{{Value: trace.ShardAdded, Peer: "a", ID: "east"}, {Value: trace.ShardAdded, Peer: "b"}}, c.said...)
		o.Observe(&trace.Event{Kind: trace.Elected, Shard: "config", Node: "config.0", Term: 1})
		for i, e := range said {
			e.Kind, e.Shard, e.Node, e.Term, e.Index, e.Step = trace.ClusterChanged, "config", "config.0", 1, uint64(i+1), uint64(i+1)
			o.Observe(&e)
		}
		got := o.Lacking(&checkers.BalanceState{NS: ns, BySize: c.bytes != nil, ChunkBytes: chunk, Chunks: c.lies, Bytes: c.bytes})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: lacking %q, not %q", c.name, got, c.want)
		}
	}
}

// TestRestedSaysWhatIsLeftBehind: a shard has a document of a chunk that it gave away, and a cursor that is open.
func TestRestedSaysWhatIsLeftBehind(t *testing.T) {
	const ns = "test.docs"
	o := checkers.NewOracle(nil)
	for _, e := range []trace.Event{
		{Kind: trace.Elected, Shard: "config", Node: "config.0", Term: 1},
		{Kind: trace.ClusterChanged, Shard: "config", Node: "config.0", Term: 1, Index: 1, Step: 1, Value: trace.ShardAdded, Peer: "a"},
		{Kind: trace.ClusterChanged, Shard: "config", Node: "config.0", Term: 1, Index: 2, Step: 2, Value: trace.ShardAdded, Peer: "b"},
		{Kind: trace.Elected, Shard: "a", Node: "a.0", Term: 1, Step: 3},
		{Kind: trace.Applied, Shard: "a", Node: "a.0", Term: 1, Index: 1, Step: 4, NS: ns, Key: "d", DocID: "1", Hash: 1},
		{Kind: trace.CursorOpened, Shard: "a", Node: "a.0", Step: 5, NS: ns, ID: "open", Min: "a", Max: "e"},
		{Kind: trace.CursorOpened, Shard: "a", Node: "a.0", Step: 6, NS: ns, ID: "closed", Min: "a", Max: "e"},
		{Kind: trace.CursorClosed, Shard: "a", Node: "a.0", Step: 7, NS: ns, ID: "closed"},
		{Kind: trace.MigrationRequested, Shard: "a", Peer: "b", Node: "a.0", Step: 7, ID: "a/1/1", NS: ns, Min: "c", Max: "e"},
		{Kind: trace.DecisionMade, Shard: "a", Node: "a.0", Term: 1, Step: 8, ID: "a/1/1", Value: "committed"},
		{Kind: trace.BalancerRound, Shard: "config", Node: "config.0", Term: 1, Step: 9, N: 1, Value: "begun"},
		{Kind: trace.BalancerRound, Shard: "config", Node: "config.0", Term: 1, Step: 10, N: 1, Value: "ended"},
		{Kind: trace.NodeUp, Node: "router.0", Step: 11},
	} {
		o.Observe(&e)
	}
	o.Rested(&checkers.BalanceState{NS: ns, Chunks: []checkers.PlacedChunk{{Min: "a", Max: "c", Shard: "a"}, {Min: "c", Max: "e", Shard: "b"}}}, "more is to do")
	all := o.Verdicts()
	i := slices.IndexFunc(all, func(v checkers.Verdict) bool { return v.Checker == checkers.Balancing.Name })
	if len(all[i].Violations) != 1 {
		t.Fatalf("%d violations", len(all[i].Violations))
	}
	v := all[i].Violations[0]
	want := []string{"a still has 1 documents that it does not own", "cursor open is still open and keeps them from being deleted"}
	if !slices.Equal(v.Because[1:], want) || !slices.Equal(v.Events, []uint64{8, 5, 10}) {
		t.Errorf("because %q, events %d; want %q at the steps 8, 5 and 10", v.Because[1:], v.Events, want)
	}
}
