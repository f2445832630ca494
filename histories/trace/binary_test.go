package trace_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories/trace"
)

// TestBinary: an event's compact form holds all of it, and no part of it is taken for a whole.
func TestBinary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawnEvent(t)
		b, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got trace.Event
		if err := got.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(*e, got) {
			t.Fatalf("%+v became %+v: %v", *e, got, err)
		}
		n := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if got.UnmarshalBinary(b[:n]) == nil {
			t.Fatalf("the first %d of %d bytes are an event", n, len(b))
		}
	})
}

func drawnEvent(t *rapid.T) *trace.Event {
	text := rapid.String()
	states := trace.DonorStates()
	e := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) *trace.Event {
			return trace.DonorAdvancedEvent{
				Migration: text.Draw(t, "migration"),
				State:     rapid.SampledFrom(states).Draw(t, "state"),
			}.Event()
		}),
		rapid.Custom(func(t *rapid.T) *trace.Event {
			return trace.ElectedEvent{
				Shard: text.Draw(t, "shard"), Term: rapid.Uint64().Draw(t, "term"),
				Index: rapid.Uint64().Draw(t, "index"), Log: text.Draw(t, "log"),
			}.Event()
		}),
		rapid.Custom(func(t *rapid.T) *trace.Event {
			n := rapid.Int().Draw(t, "n")
			return trace.PointHitEvent{Site: text.Draw(t, "site"), N: n}.Event()
		}),
	).Draw(t, "event")
	e.Step, e.At = rapid.Uint64().Draw(t, "step"), rapid.Int64().Draw(t, "at")
	e.Node, e.NS, e.Key = text.Draw(t, "node"), text.Draw(t, "ns"), text.Draw(t, "key")
	e.Hash = rapid.Uint64().Draw(t, "hash")
	for range rapid.IntRange(0, 3).Draw(t, "chunks") {
		e.Chunks = append(e.Chunks, trace.Chunk{
			Min: text.Draw(t, "min"), Shard: text.Draw(t, "owner"),
			Major: rapid.Uint32().Draw(t, "major"), Jumbo: rapid.Bool().Draw(t, "jumbo"),
			History: []trace.Placement{{ValidAfter: rapid.Uint64().Draw(t, "after"), Shard: "s"}},
		})
	}
	return e
}
