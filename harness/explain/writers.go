package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// attribute finds out which client's operation each write of the documents is, where only one can
// be meant.
func (s *slice) attribute() {
	s.writers = map[int]*histories.Op{}
	for i := range s.events {
		e := &s.events[i]
		d := document{e.NS, e.DocID, e.Key}
		if e.Kind == trace.Applied && slices.Contains(s.docs, d) {
			if op := s.writer(e, d); op != nil {
				s.writers[i] = op
			}
		}
	}
}

// writer is the only operation that may have done a write, nil when there are several or none.
func (s *slice) writer(e *trace.Event, d document) (found *histories.Op) {
	for i := range s.history {
		op := &s.history[i]
		if op.NS != d.ns || string(key.Int(op.Key)) != d.number() || !mayHaveWritten(op) ||
			(op.Kind.Of().Effect == opkind.Remove) != (e.Hash == 0) {
			continue
		}
		preload := op.Client == histories.PreloadClient && e.Actor == trace.System
		if preload || e.Actor == trace.User && op.CallAt <= e.At && e.At <= op.ReturnAt {
			if found != nil {
				return nil
			}
			found = op
		}
	}
	return found
}

// state names a state of a document by the write that made it.
func (s *slice) state(d document, hash uint64) string {
	if hash == 0 {
		return "nothing"
	}
	for i := range s.events {
		e := &s.events[i]
		if s.writers[i] != nil && e.Hash == hash && d.written(e) {
			return s.writers[i].Value
		}
	}
	return fmt.Sprintf("a state that no single write is known to have made (hash %04x)", hash>>48)
}

// mayHaveWritten says whether an operation may have changed a document.
func mayHaveWritten(op *histories.Op) bool {
	switch op.Outcome {
	case histories.Failed:
		return false
	case histories.OK:
		return writesKind(op.Kind) && op.Result.Applied
	}
	return writesKind(op.Kind)
}

func writesKind(k scenario.OpKind) bool { return k.Of().Shape == opkind.Keyed && !k.Of().Reads() }

// fates follows what became of the collections of statements that clients have executed, where it
// is in question who knows of these: a collection that is no more may not be thought of.
func (s *slice) fates() {
	for _, i := range s.positions() {
		e := &s.events[i]
		if e.Kind != trace.Executed || e.Actor != trace.User {
			continue
		}
		requests, _ := s.requests(i)
		if len(requests) == 0 {
			continue
		}
		of := &s.events[requests[0]]
		for j := i + 1; j < len(s.events) && j <= s.horizon; j++ {
			x := &s.events[j]
			ends := strings.Contains(x.Asked(), "Drop") || strings.Contains(x.Asked(), "Rename")
			if ends && x.NS == of.NS && setOf(x.Node) == setOf(of.Node) {
				s.choose(j, Close)
			}
		}
	}
}

// statementOf is the request that a statement was executed for.
func (s *slice) statementOf(i int) string {
	requests, _ := s.requests(i)
	if len(requests) == 0 {
		return ""
	}
	x := &s.events[requests[0]]
	return fmt.Sprintf(" (%s)", strings.TrimSuffix(x.Asked()+" of "+x.NS, " of "))
}
