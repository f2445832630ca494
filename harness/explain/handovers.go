package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// What one party holds and another must learn is handed over by requests: documents by MigrateClone
// and TransferMods, the history of sessions by NextSessionMods, what a range deletion is to do by
// RangeTaskOp. Where the hand-over is in question, the requests that carried it, or could have, are
// told, with what their server did meanwhile.

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
		return t.doc.written(e) && e.Actor == trace.User
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

// carriers follows the answers that brought a document to the recipient of a migration of the
// slice.
func (s *slice) carriers() {
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		x := &s.events[i]
		if len(s.brought(x)) > 0 && s.done["migration "+ofMigration(x)] {
			s.choose(i, Close)
		}
	}
}

// brought are the documents of the contradiction that an answer brings.
func (s *slice) brought(x *trace.Event) (all []trace.Carried) {
	for _, c := range x.Carried() {
		if slices.ContainsFunc(s.docs, func(d document) bool { return d.id == c.DocID }) {
			all = append(all, c)
		}
	}
	return all
}

// notBrought says of a document that the new owner lacks, or has in another state, that no answer
// brought it to the recipient of a migration; empty where one did, or nothing was asked.
func (s *slice) notBrought(t *turn) string {
	if t.migration == "" || t.lacks == 0 {
		return ""
	}
	asked := 0
	for i := range s.events[:t.at] {
		x := &s.events[i]
		if x.Kind != trace.Exchanged || ofMigration(x) != t.migration ||
			x.Asked() != "MigrateClone" && x.Asked() != "TransferMods" {
			continue
		}
		asked++
		if slices.ContainsFunc(s.brought(x), func(c trace.Carried) bool {
			return c.DocID == t.doc.id && c.Hash == t.lacks
		}) {
			return ""
		}
	}
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf("; none of %s to MigrateClone and TransferMods brought it",
		counted(asked, "answer"))
}

// handoversTold is how many requests are told by which session history came over.
const handoversTold = 3

// handovers follows the requests by which the migrations of the slice hand session history over:
// those that bring some, or else the first.
func (s *slice) handovers() {
	var all, brings []int
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		x := &s.events[i]
		asked, answer := x.Said()
		if !strings.Contains(x.Asked(), "Session") || !s.done["migration "+handedBy(x)] {
			continue
		}
		all = append(all, i)
		if !strings.Contains(asked+answer, "Stmts (0)") {
			brings = append(brings, i)
		}
	}
	if len(brings) == 0 {
		brings = all[:min(1, len(all))]
	}
	for _, i := range brings[max(0, len(brings)-handoversTold):] {
		s.choose(i, Close)
	}
}

// handedBy is the migration, or the movePrimary, for which session history is handed over.
func handedBy(x *trace.Event) string {
	if move, is := x.Argument("Move"); is {
		return move
	}
	return ofMigration(x)
}
