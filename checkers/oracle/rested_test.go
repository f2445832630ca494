package oracle

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestRestedSaysWhatIsLeftBehind: a shard has a document of a chunk that it gave away, and a cursor that is open.
func TestRestedSaysWhatIsLeftBehind(t *testing.T) {
	const ns = "test.docs"
	o := New(nil)
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
	chunks := []trace.Chunk{{Min: "a", Max: "c", Shard: "a"}, {Min: "c", Max: "e", Shard: "b"}}
	o.Rested(ns, chunks, "more is to do")
	all := o.Verdicts()
	i := slices.IndexFunc(all, func(v verdict.Verdict) bool { return v.Checker == Balancing.Name })
	if len(all[i].Violations) != 1 {
		t.Fatalf("%d violations", len(all[i].Violations))
	}
	v := all[i].Violations[0]
	want := []string{"a has 1 documents that it does not own", "queries keep them there: cursor open is open"}
	if !slices.Equal(v.Because[1:], want) || !slices.Equal(v.Events, []uint64{8, 5, 10}) {
		t.Errorf("because %q, events %d; want %q at the steps 8, 5 and 10", v.Because[1:], v.Events, want)
	}
}
