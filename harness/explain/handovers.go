package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// What one party holds and another must learn is handed over by requests: changes to documents by
// TransferMods, what a range deletion is to do by RangeTaskOp. Where the hand-over is in question,
// the requests that could have carried it are told, with what their server did meanwhile.

// fetches follows, for a document that its recipient lacks, the requests for changes that could
// have brought its last state: the one that the donor was at when it was written, and the next.
func (s *slice) fetches(t *turn) {
	if s.notBrought(t) == "" {
		return
	}
	wrote := s.lastWrite(t)
	if wrote < 0 {
		return
	}
	w := &s.events[wrote]
	var during, next []int
	for i := range s.events[:t.at] {
		x := &s.events[i]
		switch {
		case x.Asked() != "TransferMods" || ofMigration(x) != t.migration || x.At < w.At:
		case x.Arrived() <= w.At:
			during = append(during, i)
		default:
			next = append(next, i)
		}
	}
	for _, i := range append(during, next[:min(len(next), 1)]...) {
		s.choose(i, Must)
		s.fetched[i] = wrote
	}
}

// lastWrite is the position of the last write by a client of a turn's document before the turn, -1
// for none.
func (s *slice) lastWrite(t *turn) int {
	return s.last(t.at, func(e *trace.Event) bool {
		return e.Kind == trace.Applied && e.Actor == trace.User && e.NS == t.doc.ns &&
			e.DocID == t.doc.id
	})
}

// fetchedText says of a request for changes when it was answered, seen from the write that it does
// not bring, and which steps its server took for it.
func (s *slice) fetchedText(i int) string {
	wrote, known := s.fetched[i]
	if !known {
		return ""
	}
	x, w := &s.events[i], &s.events[wrote]
	d := document{w.NS, w.DocID, w.Key}
	text := fmt.Sprintf(", without %s, which was written at %s, before this was asked",
		documentName(d), rounded(w.At))
	if x.Arrived() <= w.At {
		text = fmt.Sprintf(", without %s, which was written at %s, while this was being answered",
			documentName(d), rounded(w.At))
	}
	if way := s.way(x.Node, ofMigration(x), "donor.serve", x.Arrived(), x.At); len(way) > 0 {
		text += "; meanwhile " + x.Node + " passed " + sites(way)
	}
	return text
}

func rounded(at int64) string { return time.Duration(at).Round(roundedTo).String() }

// taskRequests follows the requests of a migration about a range deletion on the other side, and
// what its server changed of its tasks while it was at them.
func (s *slice) taskRequests(id string) {
	if !strings.Contains(s.about.Text, "orphan") && !strings.Contains(s.about.Text, "task") {
		return
	}
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		x := &s.events[i]
		if x.Asked() != "RangeTaskOp" || x.Kind != trace.Exchanged || ofMigration(x) != id {
			continue
		}
		s.choose(i, Close)
		for j := range s.events[:i] {
			e := &s.events[j]
			if e.Kind == trace.RangeDeletion && e.Node == x.Node && e.At >= x.Arrived() &&
				e.Migration() != id {
				s.choose(j, Close)
			}
		}
	}
}

// tasksText says of a request about a range deletion what tasks its server has there, where its own
// is not, or not alone, among them.
func (s *slice) tasksText(i int) string {
	x := &s.events[i]
	if x.Asked() != "RangeTaskOp" {
		return ""
	}
	lo, _ := x.Argument("Min")
	hi, _ := x.Argument("Max")
	states := map[string]*trace.Event{}
	var ids []string
	for j := range s.events[:i] {
		e := &s.events[j]
		if e.Kind != trace.RangeDeletion || e.Shard != setOf(x.Node) || e.NS != x.NS ||
			e.At >= x.Arrived() || rangeText(e) != "["+lo+", "+hi+")" {
			continue
		}
		if states[e.Migration()] == nil {
			ids = append(ids, e.Migration())
		}
		states[e.Migration()] = e
	}
	own := ofMigration(x)
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return id != own && states[id].DeletionState().Terminal()
	})
	var texts []string
	for _, id := range ids {
		e := states[id]
		texts = append(texts, fmt.Sprintf("the one of %s is %s since %s", id, e.State(), rounded(e.At)))
	}
	ownOnly := len(ids) == 1 && ids[0] == own && !states[own].DeletionState().Terminal()
	if len(ids) == 0 || ownOnly {
		return ""
	}
	return "; of the tasks of " + setOf(x.Node) + " for this range, " + strings.Join(texts, ", and ")
}

// participation tells the steps that shards took for a change of the catalog by an operation on a
// collection: before it and after, by what they were asked.
func (s *slice) participation(i int) []Moment {
	e := &s.events[i]
	if e.Kind != trace.CatalogWritten || movedBy(e) != "" || s.chosen[i] == 0 || len(s.docs) == 0 {
		return nil
	}
	operation := s.operationAt(e)
	if operation == "" || !s.once("operation "+operation+e.NS) {
		return nil
	}
	var before, after []string
	for j := range s.events[:min(s.horizon+1, len(s.events))] {
		x := &s.events[j]
		if of, _ := x.Argument("Operation"); of != operation || x.NS != e.NS {
			continue
		}
		step, _ := x.Argument("Step")
		text := fmt.Sprintf("%s %s", x.Node, step)
		if _, answer := x.Said(); answer != "Done" {
			text += " (" + answer + ")"
		}
		switch {
		case x.At <= e.At:
			before = append(before, text)
		case !slices.Contains(before, text) && !slices.Contains(after, text):
			after = append(after, text)
		}
	}
	if len(before) == 0 {
		return nil
	}
	return []Moment{{
		At: e.At, Weight: Telling,
		Text: fmt.Sprintf("for %s of %s, the config server has asked for these steps before: %s; "+
			"and for these afterwards: %s", e.Why(), e.NS, listed(before), listed(after)),
	}}
}

func listed(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// operationAt is the operation on a collection that a write of the catalog is for: the last one
// that shards were asked for a step of; empty when there is none.
func (s *slice) operationAt(of *trace.Event) (operation string) {
	for i := range s.events {
		x := &s.events[i]
		id, numbered := x.Argument("Operation")
		if !numbered || x.Kind != trace.Exchanged || x.NS != of.NS || setOf(x.Peer) != model.Config {
			continue
		}
		if x.Arrived() <= of.At {
			operation = id
		}
	}
	return operation
}
