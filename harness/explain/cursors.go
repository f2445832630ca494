package explain

import (
	"slices"
	"strings"

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
				s.batches(i, op.ReturnAt)
			}
		}
	}
}

// batchesTold is how many answers with more of a cursor's documents are told.
const batchesTold = 3

// batches follows the later answers of a cursor, until its operation returned, and what its node
// learnt between them of who owns what: a cursor goes by what was owned when it was opened.
func (s *slice) batches(opened int, until int64) {
	c := &s.events[opened]
	var answers []int
	for i := opened + 1; i < len(s.events) && s.events[i].At <= until; i++ {
		if e := &s.events[i]; e.Kind == trace.CursorAnswered && e.Cursor() == c.Cursor() {
			answers = append(answers, i)
		}
	}
	if len(answers) < 2 {
		return // everything came at once
	}
	for _, i := range answers[max(0, len(answers)-batchesTold):] {
		s.choose(i, Close)
	}
	s.chooseLast(answers[len(answers)-1], Close, func(e *trace.Event) bool {
		return e.Kind == trace.MetadataInstalled && e.Node == c.Node && e.NS == c.NS && e.At >= c.At
	})
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

// stillRead names the cursors that are open on a node and may return a document that it deletes as
// an orphan there; empty for none. Queries that keep nothing from deletion do not count.
func (s *slice) stillRead(i int) string {
	of := &s.events[i]
	if of.Actor != trace.RangeDeleter {
		return ""
	}
	var sees, open []string
	for j := range s.events[:i] {
		e := &s.events[j]
		if e.Node != of.Node {
			continue
		}
		switch {
		case e.Kind == trace.CursorOpened && e.NS == of.NS && owns(e.Chunks, of.Key):
			sees = append(sees, e.Cursor())
		case e.CursorState() == trace.CursorLives && len(e.Chunks) > 0 &&
			slices.Contains(sees, e.Cursor()):
			open = append(open, e.Cursor())
		case e.Kind == trace.CursorClosed, e.Kind == trace.CursorAnswered &&
			e.CursorState() != trace.CursorLives:
			open = slices.DeleteFunc(open, func(c string) bool { return c == e.Cursor() })
		case e.Kind == trace.NodeDown:
			open = nil
		}
	}
	if len(open) == 0 {
		return ""
	}
	slices.Reverse(open)
	return ", although it may be returned by " + strings.Join(FirstLines(open, cursorsTold), ", ") +
		", open on it"
}

// endings follows the end of the cursors that the contradiction names, where nobody asked for it:
// what ended them is what their node did in the same moment.
func (s *slice) endings() {
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		e := &s.events[i]
		if e.Kind == trace.CursorClosed && namesIt(s.about.Text, e.Cursor()) && !s.isAskedFor(e) {
			s.choose(i, Must)
		}
	}
}

// isAskedFor says whether a node was at a request for a cursor when it closed it.
func (s *slice) isAskedFor(closed *trace.Event) bool {
	return slices.ContainsFunc(s.events, func(x trace.Event) bool {
		cursor, _ := x.Argument("Cursor")
		_, answer := x.Said()
		return x.Kind == trace.Exchanged && x.Node == closed.Node && x.Arrived() <= closed.At &&
			closed.At <= x.At && (cursor == closed.Cursor() || namesIt(answer, closed.Cursor()))
	})
}

// ending says of a cursor that nobody asked to be closed what else its node did in that moment.
func (s *slice) ending(i int) string {
	of := &s.events[i]
	var others, meanwhile []string
	for j := range s.events {
		e := &s.events[j]
		switch {
		case j == i || e.Node != of.Node || e.At != of.At:
		case e.Kind == trace.CursorClosed:
			others = append(others, e.Cursor())
		case endsCursors(e):
			meanwhile = append(meanwhile, Sentence(e))
		}
	}
	text := ", which no request asks for"
	if len(others) > 0 {
		text += ", and with it " + strings.Join(FirstLines(others, cursorsTold), ", ")
	}
	if len(meanwhile) > 0 {
		text += "; in the same moment: " + strings.Join(meanwhile, "; ")
	}
	return text
}

// endsCursors says whether an event may be why a node closes cursors by itself.
func endsCursors(e *trace.Event) bool {
	switch e.Kind {
	case trace.DonorAdvanced, trace.RecipientAdvanced, trace.MigrationRequested,
		trace.CriticalSection, trace.MetadataInstalled, trace.MetadataCleared, trace.RangeDeletion,
		trace.PrimaryMoving, trace.SteppedDown, trace.Elected:
		return true
	}
	return false
}

// cursorsTold is how many cursors are named.
const cursorsTold = 3

func owns(chunks []trace.Chunk, k string) bool {
	return slices.ContainsFunc(chunks, func(c trace.Chunk) bool { return c.Min <= k && k < c.Max })
}

// sees says whether a cursor may return one of the documents, rightly or not.
func (s *slice) sees(i int, e *trace.Event) bool {
	return slices.ContainsFunc(s.docs, func(d document) bool {
		return s.held(d, e.Shard, i) != 0 || owns(e.Chunks, d.key)
	})
}
