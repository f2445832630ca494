package explain

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// document is one that the contradiction is about: where it is stored and under which shard key.
type document struct{ ns, id, key string }

// NumberOf is the encoded key by which clients know the document that an event is about: its _id,
// or, where that is negative and documents of several shards share it, its shard key
// (scenario.KeyOf).
func NumberOf(e *trace.Event) string { return document{e.NS, e.DocID, e.Key}.number() }

func (d document) number() string {
	if d.id < string(key.Int(0)) {
		return d.key
	}
	return d.id
}

// written says whether an event is that a member applied a write of the document.
func (d document) written(e *trace.Event) bool {
	return e.Kind == trace.Applied && e.NS == d.ns && e.DocID == d.id && NumberOf(e) == d.number()
}

// documentsOf are those whose number or shard key is what people call it. A hashed collection has
// both. One that nobody ever wrote is known by its number.
func documentsOf(r Run, about *Contradiction) (all []document) {
	if about.Key == "" {
		return nil
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.Kind != trace.Applied || e.DocID == "" || about.NS != "" && e.NS != about.NS {
			continue
		}
		d := document{e.NS, e.DocID, e.Key}
		if (key.Key(e.DocID).String() == about.Key || key.Key(e.Key).String() == about.Key) &&
			!slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	if n, err := strconv.ParseInt(about.Key, 10, 64); err == nil && all == nil {
		all = append(all, document{about.NS, string(key.Int(n)), string(key.Int(n))})
	}
	return all
}

// inside says whether one of the documents lies in the range of the namespace.
func (s *slice) inside(ns, lo, hi string) bool {
	return slices.ContainsFunc(s.docs, func(d document) bool {
		return d.ns == ns && lo <= d.key && d.key < hi
	})
}

// keyed says whether an event is about the key of one of the documents.
func (s *slice) keyed(e *trace.Event) bool {
	return slices.ContainsFunc(s.docs, func(d document) bool {
		return d.ns == e.NS && d.key == e.Key
	})
}

// window is the time that the contradiction spans: its operations from their calls to their
// returns, and its events. All of the run, when it has neither.
func (s *slice) window() (from, to int64) {
	var times []int64
	for _, op := range s.ops {
		if op.Client != histories.PreloadClient {
			times = append(times, op.CallAt, op.ReturnAt)
		}
	}
	for i := range s.events {
		if slices.Contains(s.about.Steps, s.events[i].Step) {
			times = append(times, s.events[i].At)
		}
	}
	for _, at := range s.about.Times {
		times = append(times, at-timeAround, at+timeAround)
	}
	if len(times) == 0 && len(s.events) > 0 {
		return 0, s.events[len(s.events)-1].At
	}
	if len(times) == 0 {
		return 0, 0
	}
	if s.preloaded() {
		times = append(times, 0)
	}
	return slices.Min(times), slices.Max(times)
}

// timeAround is how far from a time that is only about right a contradiction is looked at.
const timeAround = int64(20 * time.Millisecond)

// preloaded says whether a document was there before the run, and that is part of the
// contradiction.
func (s *slice) preloaded() bool {
	return slices.ContainsFunc(s.ops, func(op *histories.Op) bool {
		return op.Client == histories.PreloadClient
	})
}

// operationsOf are those of the contradiction.
func operationsOf(history []histories.Op, ids []int) (all []*histories.Op) {
	for i := range history {
		if slices.Contains(ids, history[i].ID) {
			all = append(all, &history[i])
		}
	}
	return all
}

// namesIt says whether the text names it, as a word of its own: shard-a/1/1 is not named by
// shard-a/1/10.
func namesIt(text, name string) bool {
	for rest := text; name != ""; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !isWordByte(rest[i-1])) && (end == len(rest) || !isWordByte(rest[end])) {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}

func isWordByte(c byte) bool {
	return c == '/' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}
