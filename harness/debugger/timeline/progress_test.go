package timeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// TestProgress follows a migration under two faults to its end.
func TestProgress(t *testing.T) {
	lo, hi := string(key.Int(10)), string(key.Int(20))
	phase := func(step uint64, kind trace.Kind, node, value string) trace.Event {
		return trace.Event{Step: step, Kind: kind, Node: node, Value: value, Shard: "shard-a", Peer: "shard-b", ID: "shard-a/1/1", NS: "test.docs", Min: lo, Max: hi}
	}
	received := phase(6, trace.RecipientState, "shard-b.0", "kClone")
	received.Shard, received.Peer = "shard-b", "shard-a"
	short := func(kind trace.Kind, node, value string) trace.Event {
		return trace.Event{Kind: kind, Node: node, Value: value, Shard: "shard-a", ID: "shard-a/1/1"}
	}
	events := []trace.Event{
		{Kind: trace.Fault, N: 1, Value: "crash", Peer: "shard-b.0"}, {Kind: trace.Fault, N: 2, Value: "hold", Peer: "*>*"},
		phase(5, trace.DonorState, "shard-a.0", "kCloning"), received,
		short(trace.CriticalSection, "shard-a.0", "writesBlocked"), short(trace.RangeDeletion, "shard-a.0", "pending"),
		{Kind: trace.Repair, N: 1, Value: "crash", Peer: "shard-b.0"},
	}
	want := &Progress{
		Faults: []string{"fault 2 hold *>*"},
		Migrations: []Migration{{
			ID: "shard-a/1/1", NS: "test.docs", Min: lo, Max: hi, From: "shard-a", To: "shard-b", Began: 5, Donor: "kCloning on shard-a.0",
			Recipient: "kClone on shard-b.0", Sections: []string{"shard-a.0 writesBlocked"}, Deletions: []string{"shard-a.0 pending"},
		}},
	}
	if diff := cmp.Diff(want, After(events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	events = append(events, short(trace.CriticalSection, "shard-a.0", "released"), short(trace.RangeDeletion, "shard-a.0", "done"),
		short(trace.DecisionMade, "shard-a.0", "committed"))
	if m := After(events).Migrations[0]; m.Over() || m.Decision != "committed by shard-a.0" {
		t.Errorf("decided, and nothing more: %+v", m)
	}
	events = append(events, short(trace.MigrationEnded, "shard-a.0", "committed"))
	if m := After(events).Migrations[0]; !m.Over() {
		t.Errorf("ended: %+v", m)
	}
}

// TestOwner finds owners of hashed and of other keys.
func TestOwner(t *testing.T) {
	p := Placement{Chunks: []trace.Chunk{
		{Min: string(key.Min), Max: string(key.Int(0)), Shard: "shard-a"}, {Min: string(key.Int(0)), Max: string(key.Max), Shard: "shard-b"},
	}}
	for n, want := range map[int64]string{-1: "shard-a", 0: "shard-b", 7: "shard-b"} {
		if got := p.Owner(p.Shard(n)); got != want {
			t.Errorf("%d belongs to %q, want %q", n, got, want)
		}
	}
	if p.Hashed = true; p.Shard(7) == key.Int(7) {
		t.Error("the place of a hashed key is the key")
	}
	if none := (&Placement{}).Owner(key.Int(1)); none != "" {
		t.Errorf("without chunks the owner is %q", none)
	}
}
