package oracle

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestOptionsOfASingleRequest: a request for a single chunk has its options from when it entered
// the queue, or from when it left it, and from no other time.
func TestOptionsOfASingleRequest(t *testing.T) {
	for _, c := range []struct {
		asked     string
		limit     int64 // of a shard that is asked what it has after the options were read
		signature verdict.Signature
	}{
		{"when it came", 0, ""}, {"when it was made", 0, ""}, {"later", 0, notAsChosen},
		{"later", 9, ""},
	} {
		s := script{o: New(nil)}
		state := uneven()
		s.o.Views(func(string) *balance.Round { copied := *state; return &copied })
		s.lines(t, "elected a.0 1 0 1:0\nelected config.0 1 0 1:0")
		see := func(node string, e *trace.Event) {
			s.step++
			e.Step, e.At, e.Node = s.step, s.now(), node
			s.o.Observe(e)
		}
		throttle := func(text string) {
			state = uneven()
			state.Throttle, state.Shards[2].MaxBytes = text, c.limit
		}
		throttle("when it came")
		see("config.0", trace.BalancerQueuedEvent{
			Shard: "a", Peer: "b", Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/0/1",
		}.Event())
		throttle("when it was made")
		see("config.0", trace.BalancerChoseEvent{
			Shard: "a", Peer: "b", Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/0/1",
		}.Event())
		throttle("later")
		see("a.0", trace.MoveAskedEvent{
			Peer: "b", NS: "test.docs", Min: "\x00", Max: "g", Request: "balancer/1/0/1",
			Asking: balance.Asking(false, false, c.asked, 100),
		}.Event())
		t.Run(fmt.Sprintf("%s, limit %d", c.asked, c.limit), func(t *testing.T) {
			expectOf(t, s.o, policyRule, c.signature)
		})
	}
}

// TestWishes: a donor is asked for what an operator has requested, or for a part of it, with the
// same options.
func TestWishes(t *testing.T) {
	const asking = "operator balancer chunkBytes=0 throttle="
	wish := Wish{Name: "7", NS: "test.docs", To: "b", Min: "c", Max: "m", Asking: asking}
	open, found := wish, wish
	open.Max = ""
	found.Min, found.Max, found.Find = "", "", "f"
	for name, c := range map[string]struct {
		wish      Wish
		e         trace.MoveAskedEvent
		signature verdict.Signature
	}{
		"the range":         {wish, trace.MoveAskedEvent{Min: "c", Max: "m"}, ""},
		"a part":            {wish, trace.MoveAskedEvent{Min: "d", Max: "f"}, ""},
		"more":              {wish, trace.MoveAskedEvent{Min: "b", Max: "m"}, notAsRequested},
		"an end left open":  {wish, trace.MoveAskedEvent{Min: "c"}, notAsRequested},
		"to another":        {wish, trace.MoveAskedEvent{Min: "c", Max: "m", Peer: "c"}, notAsRequested},
		"in another way":    {wish, trace.MoveAskedEvent{Min: "c", Max: "m", Asking: "x"}, notAsRequested},
		"left to the donor": {open, trace.MoveAskedEvent{Min: "c"}, ""},
		"another beginning": {open, trace.MoveAskedEvent{Min: "a"}, notAsRequested},
		"the chunk":         {found, trace.MoveAskedEvent{Min: "d", Max: "h"}, ""},
		"another chunk":     {found, trace.MoveAskedEvent{Min: "g", Max: "h"}, notAsRequested},
	} {
		t.Run(name, func(t *testing.T) {
			o := New(nil)
			o.Views(func(string) *balance.Round { return uneven() })
			o.MovesRange(c.wish)
			c.e.NS, c.e.Request = "test.docs", "7"
			c.e.Peer, c.e.Asking = cmp.Or(c.e.Peer, "b"), cmp.Or(c.e.Asking, asking)
			e := c.e.Event()
			e.Node = "a.0"
			o.Observe(e)
			expectOf(t, o, policyRule, c.signature)
		})
	}
}

// TestWishForAChunk: when the chunk of a key is split while it is to move, its pieces do.
func TestWishForAChunk(t *testing.T) {
	const asking = "operator balancer chunkBytes=0 throttle="
	for _, c := range []struct {
		min, max  string
		signature verdict.Signature
	}{
		{"c", "f", ""}, {"f", "k", ""}, {"k", "m", ""}, {"k", "n", notAsRequested},
		{"b", "c", notAsRequested},
	} {
		s := script{o: New(nil)}
		s.o.Views(func(string) *balance.Round { return uneven() })
		s.lines(t, "elected config.0 1 0 1:0\ntable 1 1 create -..c=a@1|0 c..m=a@1|1 m..+=b@1|2")
		s.o.MovesRange(Wish{Name: "7", NS: "test.docs", To: "b", Find: "g", Asking: asking})
		s.lines(t, "table 1 2 split c..f=a@1|3 f..k=a@1|4 k..m=a@1|5")
		s.happens("a.0", trace.MoveAskedEvent{
			NS: "test.docs", Min: c.min, Max: c.max, Request: "7", Peer: "b", Asking: asking,
		}.Event())
		t.Run(c.min+" to "+c.max, func(t *testing.T) { expectOf(t, s.o, policyRule, c.signature) })
	}
}
