package explain

import (
	"slices"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// followCursors adds the cursors that an operation of the contradiction read with, where they
// concern its documents.
func (s *slice) followCursors() {
	for i := range s.events {
		e := &s.events[i]
		if e.Kind != trace.CursorOpened || !s.inside(e.NS, e.Min, e.Max) {
			continue
		}
		for _, op := range s.ops {
			if readsFor(op, e) && s.sees(i, e) {
				s.choose(i, Close)
			}
		}
	}
}

// readsFor says whether a cursor may be that of an operation.
func readsFor(op *histories.Op, e *trace.Event) bool {
	if op.Kind.Of().Shape != opkind.Ranged || op.NS != e.NS || e.At < op.CallAt ||
		e.At > op.ReturnAt {
		return false
	}
	whole := e.Min == string(key.Min) && e.Max == string(key.Max) // of a hashed collection
	return whole || e.Min == string(key.Int(op.Key)) && e.Max == string(key.Int(op.To))
}

// sees says whether a cursor may return one of the documents, rightly or not.
func (s *slice) sees(i int, e *trace.Event) bool {
	return slices.ContainsFunc(s.docs, func(d document) bool {
		return s.held(d, e.Shard, i) != 0 || slices.ContainsFunc(e.Chunks,
			func(c trace.Chunk) bool { return c.Min <= d.key && d.key < c.Max })
	})
}
