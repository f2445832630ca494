package harness

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/key"
)

// lostWrite is a run in which a write was lost: what a report is made of, in small.
func lostWrite() *Result {
	ms := func(n int) int64 { return int64(n) * int64(time.Millisecond) }
	lo, hi := string(key.Int(10)), string(key.Int(20))
	move := event.Event{Shard: "shard-a", Peer: "shard-b", Node: "shard-a.0", ID: "shard-a/1/1", NS: "test.docs", Min: lo, Max: hi}
	phase := func(step uint64, at int, kind event.Kind, node, value string) event.Event {
		e := move
		e.Step, e.At, e.Kind, e.Node, e.Value = step, ms(at), kind, node, value
		return e
	}
	return &Result{
		Scenario: &scenario.Scenario{Name: "dense", Seed: 412, Faults: []scenario.Fault{{ID: 1, Kind: "crash",
			When: scenario.Trigger{Site: "r.replWait", Nth: 2}, Target: "shard-b.0", For: time.Second}}},
		History: []histories.Op{
			{ID: 8, Client: 1, Kind: scenario.Write, Key: 17, Value: "w4", Outcome: histories.OK, Result: histories.Result{Found: true, Value: "w3"},
				CallAt: ms(800), ReturnAt: ms(812)},
			{ID: 9, Client: 2, Kind: scenario.Read, Key: 17, Outcome: histories.OK, Result: histories.Result{Found: true, Value: "w3"},
				CallAt: ms(1200), ReturnAt: ms(1204)},
			{ID: 10, Client: 2, Kind: scenario.Read, Key: 3, Outcome: histories.OK, CallAt: ms(1205), ReturnAt: ms(1206)},
		},
		Events: []event.Event{
			phase(640, 640, event.DonorState, "shard-a.0", "kCloning"), phase(700, 700, event.RecipientState, "shard-b.0", "kCatchup"),
			{Step: 790, At: ms(790), Kind: event.Fault, Value: "crash", Peer: "shard-b.0", N: 1},
			{Step: 791, At: ms(790), Kind: event.NodeDown, Node: "shard-b.0"},
			{Step: 801, At: ms(801), Kind: event.Elected, Node: "shard-b.1", Shard: "shard-b", Term: 2},
			{Step: 866, At: ms(866), Kind: event.CatalogWritten, NS: "test.docs", Value: "move shard-a/1/1",
				Chunks: []event.Chunk{{Min: lo, Max: hi, Shard: "shard-b", Major: 2}}},
			phase(870, 870, event.DecisionMade, "shard-a.0", "committed"),
			{Step: 2000, At: ms(2000), Kind: event.Repair, Value: "crash", Peer: "shard-b.0", N: 1},
		},
		Virtual: 3 * time.Second, Counters: NewCounters(),
		Verdicts: []checkers.Verdict{
			{Checker: "identity", Promise: "An acknowledged majority write must be visible to every later read.", Outcome: checkers.Fail, Found: 2,
				Violations: []checkers.Violation{{
					Signature: "lost-write", Key: "17", Broke: "w4 was acknowledged; a later read returned w3", Ops: []int{8, 9},
					Because: []string{"operation 8 ended before operation 9 began", strings.Repeat("a very long reason ", 20)},
				}}},
			{Checker: "K-DUR", Outcome: checkers.Fail}, {Checker: "scans", Outcome: checkers.Pass},
		},
	}
}

// TestReport shows the failure block as people see it.
func TestReport(t *testing.T) {
	datadriven.RunTest(t, "testdata/report", func(t *testing.T, c *datadriven.TestData) string {
		switch c.Cmd {
		case "fail":
			return Report(lostWrite(), Where{
				Run: "run 412 of 2,000", Folder: "out/lost-write-412", Replay: []string{"shardproof replay out/lost-write-412"},
				Look: []string{"out/lost-write-412/story.md"},
			})
		case "undecided":
			r := lostWrite()
			r.Verdicts = []checkers.Verdict{{Checker: "linearizability", Promise: "One order explains all.", Outcome: checkers.Undecided,
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
		r.Events = append(r.Events, event.Event{Step: uint64(3000 + i), At: int64(time.Second) + int64(i), Kind: event.Fault, Value: "hold"})
	}
	for range 50 {
		r.Verdicts[0].Violations[0].Because = append(r.Verdicts[0].Violations[0].Because, "reason")
	}
	text := Report(r, Where{Replay: []string{"shardproof replay x"}})
	if lines := strings.Count(text, "\n"); lines > 40 {
		t.Errorf("the block has %d lines:\n%s", lines, text)
	}
}
