package oracle

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestRestedSaysWhatIsLeftBehind: a shard has a document of a chunk that it gave away, and a cursor
// that is open.
func TestRestedSaysWhatIsLeftBehind(t *testing.T) {
	const ns = "test.docs"
	o := New(nil)
	added := func(index uint64, shard string) *trace.Event {
		return trace.ClusterChangedEvent{
			Shard: "config", Term: 1, Index: index, Peer: shard, Change: trace.ShardAdded,
		}.Event()
	}
	opened := func(cursor string) *trace.Event {
		return trace.CursorOpenedEvent{
			Shard:  "a",
			NS:     ns,
			Cursor: cursor,
			Min:    "a",
			Max:    "e",
		}.Event()
	}
	round := func(phase trace.RoundPhase) *trace.Event {
		return trace.BalancerRoundEvent{Shard: "config", Term: 1, Round: 1, Phase: phase}.Event()
	}
	for step, e := range []*trace.Event{
		trace.ElectedEvent{Shard: "config", Term: 1}.Event(),
		added(1, "a"),
		added(2, "b"),
		trace.ElectedEvent{Shard: "a", Term: 1}.Event(),
		trace.AppliedEvent{
			Shard: "a",
			Term:  1,
			Index: 1,
			NS:    ns,
			Key:   "d",
			DocID: "1",
			Hash:  1,
		}.Event(),
		opened("open"),
		opened("closed"),
		trace.CursorClosedEvent{Shard: "a", NS: ns, Cursor: "closed"}.Event(),
		trace.MigrationRequestedEvent{
			Shard: "a", Peer: "b", Migration: "a/1/1", NS: ns, Min: "c", Max: "e",
		}.Event(),
		trace.DecisionMadeEvent{Shard: "a", Migration: "a/1/1", Decision: trace.Committed}.Event(),
		round(trace.RoundBegun),
		round(trace.RoundEnded),
		trace.NodeUpEvent{Incarnation: 1}.Event(),
	} {
		e.Step, e.Node = uint64(step), e.Shard+".0"
		o.Observe(e)
	}
	chunks := []trace.Chunk{{Min: "a", Max: "c", Shard: "a"}, {Min: "c", Max: "e", Shard: "b"}}
	o.Rested(ns, chunks, "more is to do")
	all := o.Verdicts()
	i := slices.IndexFunc(all, func(v verdict.Verdict) bool { return v.Checker == Balancing.Name })
	if len(all[i].Violations) != 1 {
		t.Fatalf("%d violations", len(all[i].Violations))
	}
	v := all[i].Violations[0]
	want := []string{
		"a still has 1 documents that it does not own",
		"cursor open is still open and keeps them from being deleted",
	}
	if !slices.Equal(v.Because[1:], want) || !slices.Equal(v.Events, []uint64{9, 5, 11}) {
		t.Errorf("because %q, events %d; want %q at the steps 9, 5 and 11",
			v.Because[1:], v.Events, want)
	}
}
