package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// passed makes passages on a node for an identifier, a millisecond each.
func passed(node, about string, sites ...string) (all []runner.Passage) {
	for i, site := range sites {
		all = append(all, runner.Passage{Node: node, About: about, Passage: trace.Passage{
			Site: site, At: int64(i+1) * int64(time.Millisecond),
		}})
	}
	return all
}

// TestParked: of a task that is parked where it has been before, the story tells how far it had
// come.
func TestParked(t *testing.T) {
	about := "b.0: range-deletion m1 is parked after rangeDeleter.enqueue, since 4ms"
	events := []trace.Event{on("b.0", 9, trace.NodeUpEvent{}.Event())}
	once := passed("b.0", "m1", "rangeDeleter.delay", "rangeDeleter.enqueue")
	s := newSlice(Run{Events: events, Passages: once}, Contradiction{Text: about})
	if got := s.parked(); len(got) > 0 {
		t.Errorf("%q of a task that has come there once", got[0].Text)
	}
	twice := passed("b.0", "m1", "rangeDeleter.enqueue", "rangeDeleter.batch.before",
		"rangeDeleter.delay", "rangeDeleter.enqueue")
	s = newSlice(Run{Events: events, Passages: twice}, Contradiction{Text: about})
	want := "b.0 passes rangeDeleter.enqueue for m1, and then rangeDeleter.batch.before at 2ms, " +
		"rangeDeleter.delay at 3ms"
	if got := s.parked(); len(got) != 2 || got[0].Text != want {
		t.Errorf("%v, not %q", got, want)
	}
}

// TestLastSteps: of a record that is left, the story tells where work for it has ended.
func TestLastSteps(t *testing.T) {
	events := []trace.Event{
		on("b.0", 1, trace.ElectedEvent{Shard: "b", Term: 1}.Event()),
		on("b.0", 9, trace.NodeUpEvent{}.Event()),
	}
	s := newSlice(Run{
		Events: events, Passages: passed("b.0", "a/1/1", "recipient.fetch", "recipient.fail"),
	}, Contradiction{Text: "b has documents left in config.migrationRecipients: 1 (a/1/1)"})
	want := "the last that b.0 does for a/1/1: it passes recipient.fetch at 1ms, recipient.fail at 2ms"
	if got := s.lastSteps(); len(got) != 1 || got[0].Text != want {
		t.Errorf("%v, not %q", got, want)
	}
}

// TestAnsweredTo: how far the shards had answered a stream when it passed a change; an answer for
// another stream does not count.
func TestAnsweredTo(t *testing.T) {
	read := func(step uint64, node, after, upto string) trace.Event {
		return on(node, step, trace.ExchangedEvent{
			Peer: "router.0", NS: "test.docs", Request: "ReadChanges",
			Arguments: []string{"After " + after}, Answer: "ChangesRead Upto " + upto,
		}.Event())
	}
	at := func(ms uint64) uint64 { return ms << histories.TimeBits }
	s := newSlice(Run{Events: []trace.Event{
		read(1, "a.0", histories.ClusterTime(at(3)-1), "7.0"),
		read(2, "b.0", histories.ClusterTime(at(3)-1), "9.0"),
		read(3, "a.0", "8.0", "10.0"),
		on("router.0", 4, trace.ExchangedEvent{
			Peer: "client.-3", Request: "NextChanges", Answer: "ChangeBatch Upto 9.0 of b/0",
		}.Event()),
	}}, Contradiction{})
	op := &histories.Op{
		NS: "test.docs", ReturnAt: int64(time.Second),
		Stream: &histories.Stream{After: histories.Token{Time: at(3)}},
	}
	got := s.answeredTo(op, &histories.ChangeBatch{
		Upto: histories.Token{Time: at(9), Shard: "b"},
	})
	if !strings.Contains(got, "answered by a up to 7.0, by b up to 9.0") {
		t.Errorf("%q", got)
	}
}
