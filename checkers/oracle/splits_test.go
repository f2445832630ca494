package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// A shard cuts chunks by itself only as often as it has learned that it may, and does not learn it
// when it asks after an operator was told that it may not.
func TestServices(t *testing.T) {
	cut := func(at string) *trace.Event {
		return trace.SplitMadeEvent{
			Peer: "a.0", NS: "test.docs", Min: "\x00", Max: "\xff",
			Chunks: []trace.Chunk{{Min: "\x00", Max: at}, {Min: at, Max: "x"},
				{Min: "x", Max: "\xff"}},
		}.Event()
	}
	asked := trace.SplitAskedEvent{
		Peer: "a", NS: "test.docs", Min: "\x00", Max: "\xff", Chunks: cut("b").Chunks,
	}.Event()
	zoned := trace.ClusterChangedEvent{
		Shard: "config", Term: 1, Index: 2, NS: "test.docs", Change: trace.ZoneRange,
		Min: "b", Max: "d", Zones: "hot",
	}.Event()
	begun := func(sent int64) *trace.Event {
		return trace.SplitBegunEvent{NS: "test.docs", ChunkBytes: 60, Sent: sent}.Event()
	}
	type said struct{ on, acknowledged bool }
	for name, c := range map[string]struct {
		said      []said
		events    []*trace.Event
		signature verdict.Signature
	}{
		"it may":     {nil, []*trace.Event{begun(1 << 40), cut("b")}, ""},
		"it may not": {nil, []*trace.Event{cut("b")}, unwanted},
		"it may once": {
			nil, []*trace.Event{begun(1 << 40), cut("b"), cut("c")}, unwanted,
		},
		"it hears of one cut twice":  {nil, []*trace.Event{begun(1 << 40), cut("b"), cut("b")}, ""},
		"zones demand it":            {nil, []*trace.Event{zoned, cut("b")}, ""},
		"it was asked for it before": {nil, []*trace.Event{asked, cut("b")}, ""},
		"it is off": {[]said{{false, true}},
			[]*trace.Event{begun(1 << 40)}, unwanted},
		"it has asked before": {[]said{{false, true}}, []*trace.Event{begun(0)}, ""},
		"nobody knows whether it is off": {
			[]said{{false, false}}, []*trace.Event{begun(1 << 40)}, "",
		},
		"it is on again": {
			[]said{{false, true}, {true, false}}, []*trace.Event{begun(1 << 40)}, "",
		},
		"it may be on again": {
			[]said{{true, false}, {false, true}}, []*trace.Event{begun(1 << 40)}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Views(func(string) *balance.Round { return uneven() })
			s.o.Extents(func(string, string) (x balance.Extent, hashed, known bool) { return })
			s.lines(t,
				"elected config.0 1 0 1:0\nelected a.0 1 0 1:0\ntable 1 1 founding -..+=a@1|0")
			s.lines(t, "round config.0 1 1 begun")
			for _, w := range c.said {
				s.o.Asked(facts.ServiceIs(facts.AutoSplit, w.on))(w.acknowledged)
			}
			for _, e := range c.events {
				s.step++
				e.Step, e.Node = s.step, "a.0"
				if e.Kind == trace.ClusterChanged {
					e.Node = "config.0"
				}
				s.o.Observe(e)
			}
			expectOf(t, s.o, splitRule, c.signature)
		})
	}
}

// A shard that a fault keeps from looking looks when it is over, at what it has then.
func TestLooksAfterAFault(t *testing.T) {
	for late, signature := range map[bool]verdict.Signature{true: "", false: wrongPoints} {
		documents := balance.Extent{Keys: strings.Split("abcdefghij", ""), Bytes: 100}
		s := script{o: New(nil)}
		s.o.Views(func(string) *balance.Round { return uneven() })
		s.o.Extents(func(string, string) (balance.Extent, bool, bool) {
			return documents, false, true
		})
		s.lines(t,
			"elected config.0 1 0 1:0\nelected a.0 1 0 1:0\ntable 1 1 founding -..+=a@1|0")
		s.lines(t, "round config.0 1 1 begun")
		at := func(ms int64, e *trace.Event) {
			s.step++
			e.Step, e.Node, e.At = s.step, "a.0", ms*int64(time.Millisecond)
			s.o.Observe(e)
		}
		at(1000, trace.SplitBegunEvent{NS: "test.docs", ChunkBytes: 60}.Event())
		if late {
			at(1001, &trace.Event{Kind: trace.Fault, Peer: "a.0"})
		}
		documents = balance.Extent{Keys: strings.Split("acegijklmn", ""), Bytes: 100}
		at(3000, trace.AppliedEvent{Shard: "a", Term: 1, Index: 1, NS: "test.docs"}.Event())
		if late {
			at(3001, &trace.Event{Kind: trace.Repair, Peer: "a.0"})
		}
		made := trace.SplitMadeEvent{Peer: "a.0", NS: "test.docs", Min: "\x00", Max: "\xff"}
		lo := "\x00"
		for _, hi := range append(
			documents.Automatic(documents, lo, "\xff", 60, true, true, false), "\xff",
		) {
			made.Chunks, lo = append(made.Chunks, trace.Chunk{Min: lo, Max: hi}), hi
		}
		at(3002, made.Event())
		expectOf(t, s.o, splitRule, signature)
	}
}

// What a primary asks for is judged by a round of its own; one that was deposed may have asked
// before it.
func TestAskedByAnotherPrimary(t *testing.T) {
	for node, signature := range map[string]verdict.Signature{
		"config.0": wrongPoints, "config.1": "",
	} {
		s := script{o: New(nil)}
		s.o.Views(func(string) *balance.Round { return uneven() })
		s.o.Extents(func(string, string) (x balance.Extent, hashed, known bool) { return })
		s.lines(t, "elected config.0 1 0 1:0\nelected a.0 1 0 1:0\n"+
			"table 1 1 founding -..+=a@1|0\nround config.0 1 1 begun")
		s.step++
		asked := trace.SplitAskedEvent{
			Peer: "a", NS: "test.docs", Min: "\x00", Max: "\xff",
			Chunks: []trace.Chunk{{Min: "\x00", Max: "b"}, {Min: "b", Max: "\xff"}},
		}.Event()
		asked.Step, asked.Node = s.step, node
		s.o.Observe(asked)
		expectOf(t, s.o, splitRule, signature)
	}
}
