package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// lostWrite is a run in which a write was lost: what a report is made of, in small.
func lostWrite() *runner.Result {
	return &runner.Result{
		Scenario: &scenario.Scenario{Name: "contended",
			Seed: 412,
			Faults: []scenario.Fault{{ID: 1,
				Kind:   "crash",
				When:   scenario.Trigger{Site: "recipient.replicationWait", Nth: 2},
				Target: "shard-b.0",
				For:    time.Second}}},
		History: []histories.Op{
			{ID: -18,
				Client:  histories.PreloadClient,
				NS:      "test.docs",
				Kind:    scenario.Insert,
				Key:     17,
				Value:   "i17",
				Outcome: histories.OK,
				Result:  histories.Result{Applied: true}},
			{ID: 8,
				Client:   1,
				NS:       "test.docs",
				Kind:     scenario.Write,
				Key:      17,
				Value:    "w4",
				Outcome:  histories.OK,
				Result:   histories.Result{Found: true, Value: "i17", Applied: true},
				CallAt:   ms(800),
				ReturnAt: ms(812)},
			{ID: 9,
				Client:   2,
				NS:       "test.docs",
				Kind:     scenario.Read,
				Key:      17,
				Outcome:  histories.OK,
				Result:   histories.Result{Found: true, Value: "i17"},
				CallAt:   ms(1200),
				ReturnAt: ms(1204)},
			{
				ID:       10,
				Client:   2,
				NS:       "test.docs",
				Kind:     scenario.Read,
				Key:      3,
				Outcome:  histories.OK,
				CallAt:   ms(1205),
				ReturnAt: ms(1206),
			},
		},
		Events:   lostEvents(),
		Virtual:  3 * time.Second,
		Counters: runner.NewCounters(),
		Verdicts: []checkers.Verdict{
			{Checker: "unique-writes",
				Promise: "An acknowledged majority write must be visible to every later read.",
				Outcome: checkers.Fail,
				Found:   2,
				Violations: []checkers.Violation{{
					Signature: "lost-write",
					NS:        "test.docs",
					Key:       "17",
					Broke:     "w4 was acknowledged; a later read returned i17",
					Ops:       []int{8, 9},
					Because: []string{
						"operation 8 ended before operation 9 began",
						strings.Repeat("a very long reason ", 20),
					},
				}}},
			{Checker: "durability",
				Outcome: checkers.Fail,
				Found:   1,
				Violations: []checkers.Violation{{
					Signature: "commit-with-stale-document",
					NS:        "test.docs",
					Key:       "17",
					Events:    []uint64{866, 868},
					Broke: "[10, 20) went from shard-a to shard-b, and of key 17 a majority " +
						"of shard-b has another state than the donor had",
				}}},
			{Checker: "scans", Outcome: checkers.Pass},
		},
	}
}

func ms(n int) int64 { return int64(n) * int64(time.Millisecond) }

// lostEvents is what happened: shard-b forgets what it had caught up on, and is given the range.
func lostEvents() []trace.Event {
	lo, hi := string(key.Int(10)), string(key.Int(20))
	const id = "shard-a/1/1"
	of := func(step int, node string, e *trace.Event) trace.Event {
		e.Step, e.At, e.Node = uint64(step), ms(step), node
		return *e
	}
	elected := func(step int, shard, node string, term uint64) trace.Event {
		return of(step, node, trace.ElectedEvent{Shard: shard, Term: term}.Event())
	}
	majority := func(step int, shard string, index uint64) trace.Event {
		return of(step, shard+".0",
			trace.MajorityEvent{Shard: shard, Term: 1, Index: index}.Event())
	}
	write := func(
		step int, shard string, index, hash uint64, by trace.Actor, id string,
	) trace.Event {
		k := string(key.Int(17))
		return of(step, shard+".0", trace.AppliedEvent{
			Shard: shard,
			Term:  1,
			Index: index,
			NS:    "test.docs",
			Key:   k,
			DocID: k,
			Hash:  hash,
			Actor: by,
			For:   id,
		}.Event())
	}
	placed := func(step int, index uint64, shard, why string) trace.Event {
		return of(step, "config.0", trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: index, NS: "test.docs", Why: why,
			Chunks: []trace.Chunk{{Min: lo, Max: hi, Shard: shard, Major: uint32(index)}},
		}.Event())
	}
	crash := trace.FaultEvent{FaultKind: "crash", Target: "shard-b.0", Number: 1}
	return []trace.Event{
		elected(1, "config", "config.0", 1), elected(2, "shard-a", "shard-a.0", 1),
		elected(3, "shard-b", "shard-b.0", 1), placed(4, 1, "shard-a", "shardCollection"),
		majority(5, "config", 1), write(6, "shard-a", 1, 30, trace.System, ""),
		of(640, "shard-a.0", trace.DonorAdvancedEvent{
			Shard: "shard-a", Peer: "shard-b", NS: "test.docs", Min: lo, Max: hi, Migration: id,
			State: trace.DonorCloning,
		}.Event()),
		write(650, "shard-b", 1, 30, trace.Recipient, id), majority(660, "shard-b", 1),
		of(700, "shard-b.0", trace.RecipientAdvancedEvent{
			Shard: "shard-a", Peer: "shard-b", NS: "test.docs", Min: lo, Max: hi, Migration: id,
			State: trace.RecipientCatchup,
		}.Event()),
		write(805, "shard-a", 2, 40, trace.User, "client.1/1"),
		write(808, "shard-b", 2, 40, trace.Recipient, id),
		of(810, "", crash.Event()), of(811, "shard-b.0", trace.NodeDownEvent{}.Event()),
		elected(820, "shard-b", "shard-b.1", 2), placed(866, 2, "shard-b", "move "+id),
		majority(868, "config", 2), of(870, "shard-a.0", trace.DecisionMadeEvent{
			Shard: "shard-a", Migration: id, Decision: trace.Committed,
		}.Event()),
		of(2000, "", trace.RepairEvent(crash).Event()),
	}
}

// TestReport shows the failure block as people see it.
func TestReport(t *testing.T) {
	datadriven.RunTest(t, "testdata/report", func(t *testing.T, c *datadriven.TestData) string {
		switch c.Cmd {
		case "fail":
			return Report(lostWrite(), Where{
				Run:    "run 412 of 2,000",
				Folder: "out/lost-write-412",
				Replay: []string{"shardproof replay out/lost-write-412"},
				Look:   []string{"out/lost-write-412/story.md"},
			})
		case "undecided":
			r := lostWrite()
			r.Verdicts = []checkers.Verdict{{Checker: "linearizability",
				Promise:   "One order explains all.",
				Outcome:   checkers.Undecided,
				Undecided: []string{"k=17: the search took longer than 2s"}}}
			return Report(r, Where{Folder: "out/x"})
		case "story.md":
			return Markdown(lostWrite())
		}
		return "no such command"
	})
}

// TestReportFitsOnAScreen holds the block to 40 lines however much happened.
func TestReportFitsOnAScreen(t *testing.T) {
	r := lostWrite()
	for i := range 5000 {
		hold := trace.FaultEvent{FaultKind: "hold"}.Event()
		hold.Step, hold.At = uint64(3000+i), int64(time.Second)+int64(i)
		r.Events = append(r.Events, *hold)
	}
	for range 50 {
		r.Verdicts[0].Violations[0].Because = append(r.Verdicts[0].Violations[0].Because, "reason")
	}
	text := Report(r, Where{Replay: []string{"shardproof replay x"}})
	if lines := strings.Count(text, "\n"); lines > 40 {
		t.Errorf("the block has %d lines:\n%s", lines, text)
	}
}

// TestAlso: another promise is named once, however many collections it broke in.
func TestAlso(t *testing.T) {
	worst := checkers.Verdict{Checker: "durability", Outcome: checkers.Fail, Found: 2}
	r := &runner.Result{Verdicts: []checkers.Verdict{
		worst,
		{Checker: "convergence", Outcome: checkers.Fail},
		{Checker: "convergence", Outcome: checkers.Fail},
		{Checker: "metadata", Outcome: checkers.Pass},
		{Checker: "convergence", Outcome: checkers.Undecided},
	}}
	got := strings.Join(otherFailures(r, worst), "\n")
	want := "this promise broke 2 times in all, convergence failed, convergence undecided"
	if got != want {
		t.Errorf("other failures are told as %q, not %q", got, want)
	}
}
