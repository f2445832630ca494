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
	const id = "shard-a/1/1"
	on := func(node string, e *trace.Event) trace.Event {
		e.Node = node
		return *e
	}
	crash := trace.FaultEvent{Number: 1, FaultKind: "crash", Target: "shard-b.0"}
	section := func(state trace.SectionState) trace.Event {
		return on("shard-a.0",
			trace.CriticalSectionEvent{Shard: "shard-a", Migration: id, State: state}.Event())
	}
	deletion := func(state trace.DeletionState) trace.Event {
		return on("shard-a.0",
			trace.RangeDeletionEvent{Shard: "shard-a", Migration: id, State: state}.Event())
	}
	begun := on("shard-a.0", trace.DonorAdvancedEvent{
		Shard: "shard-a", Peer: "shard-b", NS: "test.docs", Min: lo, Max: hi, Migration: id,
		State: trace.DonorCloning,
	}.Event())
	begun.Step = 5
	events := []trace.Event{
		*crash.Event(), *trace.FaultEvent{Number: 2, FaultKind: "hold", Target: "*>*"}.Event(),
		begun, on("shard-b.0", trace.RecipientAdvancedEvent{
			Shard: "shard-b", Peer: "shard-a", NS: "test.docs", Min: lo, Max: hi, Migration: id,
			State: trace.RecipientClone,
		}.Event()),
		section(trace.WritesBlocked), deletion(trace.DeletionPending),
		*trace.RepairEvent(crash).Event(),
	}
	want := &Progress{
		Faults: []string{"fault 2 hold *>*"},
		Migrations: []Migration{{
			ID:        "shard-a/1/1",
			NS:        "test.docs",
			Min:       lo,
			Max:       hi,
			From:      "shard-a",
			To:        "shard-b",
			Began:     5,
			Donor:     "kCloning on shard-a.0",
			Recipient: "kClone on shard-b.0",
			Sections:  []string{"shard-a.0 writesBlocked"},
			Deletions: []string{"shard-a.0 pending"},
		}},
	}
	if diff := cmp.Diff(want, After(events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	events = append(events, section(trace.SectionReleased), deletion(trace.DeletionDone),
		on("shard-a.0", trace.DecisionMadeEvent{
			Shard: "shard-a", Migration: id, Decision: trace.Committed,
		}.Event()))
	if m := After(events).Migrations[0]; m.Over() || m.Decision != "committed by shard-a.0" {
		t.Errorf("decided, and nothing more: %+v", m)
	}
	events = append(events, on("shard-a.0", trace.MigrationEndedEvent{
		Shard: "shard-a", Migration: id, Decision: trace.Committed,
	}.Event()))
	if m := After(events).Migrations[0]; !m.Over() {
		t.Errorf("ended: %+v", m)
	}
}

// TestOwner finds owners of hashed and of other keys.
func TestOwner(t *testing.T) {
	p := Placement{Chunks: []trace.Chunk{
		{Min: string(key.Min), Max: string(key.Int(0)), Shard: "shard-a"},
		{Min: string(key.Int(0)), Max: string(key.Max), Shard: "shard-b"},
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
