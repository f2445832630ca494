package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// exchange tells what was asked and answered, in one moment or, if something may have happened
// meanwhile, in two.
func (s *slice) exchange(i int) []Moment {
	x := &s.events[i]
	asked, answer := x.Said()
	request := x.Asked()
	if x.NS != "" {
		request += " of " + x.NS
	}
	if asked != "" {
		request += " (" + asked + s.ownVersion(i) + s.tasksText(i) + ")"
	}
	if id := ofMigration(x); s.during[i] != "" && id != "" && id != s.during[i] {
		request += ", of another migration than " + s.during[i]
	}
	if documents := s.documentsText(i); documents != "" {
		answer = documents
	}
	answer += s.wayText(i) + s.unasked(i) + s.fetchedText(i)
	m := Moment{
		At: x.Arrived(), Weight: s.chosen[i],
		Text:  fmt.Sprintf("%s asks %s: %s%s%s", x.Peer, x.Node, request, s.repeated(i), s.late(i)),
		again: x.Peer + " " + x.Node + " " + request + answer,
	}
	switch lasted := x.At-x.Arrived() >= int64(roundedTo); {
	case !lasted:
		m.Text += " → " + answer
	case len(answer) <= shortAnswer || m.Weight < Close:
		m.Text += fmt.Sprintf(" → %s at %s", answer, rounded(x.At))
	default:
		return []Moment{m, {
			At: x.At, Weight: m.Weight, answer: true,
			Text: fmt.Sprintf("%s answers %s of %s: %s", x.Node, x.Asked(), x.Peer, answer),
		}}
	}
	return []Moment{m}
}

// wayText is the way of a request past failpoint sites, where it matters or was not straight.
func (s *slice) wayText(i int) string {
	way := s.events[i].Passed()
	if text := detour(way); text != "" || !s.ways[i] || len(way) == 0 {
		return text
	}
	return "; it passed " + sites(way)
}

// commandText says for whom the config server has changed the catalog.
func (s *slice) commandText(i int) string {
	j, known := s.commands[i]
	if !known {
		return ""
	}
	x := &s.events[j]
	asked, answer := x.Said()
	text := fmt.Sprintf(", for %s of %s", x.Asked(), x.Peer)
	if asked != "" {
		text += " (" + asked + ")"
	}
	if code, _, told := strings.Cut(answer, ": "); told && !strings.Contains(code, " ") {
		return text + " → " + answer // it is refused
	}
	return text
}

// staleCommit says of the commit of a migration that the version that its request names is not that
// of the chunk any more.
func (s *slice) staleCommit(i int) string {
	e := &s.events[i]
	requests, _ := s.requests(i)
	if movedBy(e) == "" || len(requests) == 0 || len(e.Chunks) == 0 {
		return ""
	}
	x := &s.events[requests[0]]
	named, names := x.Argument("PreVersion")
	table := s.tableBefore(i, e.NS)
	at := slices.IndexFunc(table, func(r row) bool { return r.overlaps(e.Chunks[0]) })
	if !names || at < 0 {
		return ""
	}
	was := fmt.Sprintf("%d|%d||%s", table[at].Major, table[at].Minor, table[at].Epoch)
	if named == was {
		return ""
	}
	return fmt.Sprintf(", for a request of %s at %s that names version %s of the chunk, which had %s",
		x.Peer, rounded(x.Arrived()), named, was)
}

// shortAnswer is how long an answer may be that is told with its request although it came later.
const shortAnswer = 30

// roundedTo is how exactly times are told.
const roundedTo = 10 * time.Microsecond

// rounded is a virtual time as it is told.
func rounded(at int64) string { return time.Duration(at).Round(roundedTo).String() }

// ownVersion is the placement that a shard had itself when a request with one, or without, came,
// and the last that it had before it answered.
func (s *slice) ownVersion(i int) string {
	x := &s.events[i]
	_, attached := x.Argument("version")
	if _, without := x.Argument("without"); !attached && !without {
		return ""
	}
	was, is, since := "unknown", "unknown", int64(0)
	for j := range s.events[:i] {
		e := &s.events[j]
		switch {
		case e.Node != x.Node || e.NS != x.NS ||
			e.Kind != trace.MetadataInstalled && e.Kind != trace.MetadataCleared:
		case e.At <= x.Arrived():
			was, is = believed(e), believed(e)
		case is != believed(e):
			is, since = believed(e), e.At
		}
	}
	if is == was {
		return "; the shard's own is " + was
	}
	return fmt.Sprintf("; the shard's own is %s, and %s since %s",
		was, is, rounded(since))
}

// believed is the version that a node has from an event on.
func believed(e *trace.Event) string { return cmp.Or(e.Version(), "unknown") }

// documentsText are the documents that an answer brings: those of the contradiction, and how many
// others; empty when it brings none of those.
func (s *slice) documentsText(i int) string {
	x := &s.events[i]
	var texts []string
	mine := s.brought(x)
	for _, c := range mine {
		n := slices.IndexFunc(s.docs, func(d document) bool { return d.id == c.DocID })
		d := s.docs[n]
		text := documentName(d) + " = " + s.state(d, c.Hash)
		if c.Hash == 0 {
			text = documentName(d) + " is deleted"
		}
		if !s.arrived(i, d, c.Hash) {
			text += ", which " + setOf(x.Peer) + " does not write"
		}
		texts = append(texts, text)
	}
	if more := len(x.Carried()) - len(mine); more > 0 && len(mine) > 0 {
		texts = append(texts, counted(more, "other"))
	}
	return strings.Join(texts, "; ")
}

// arrived says whether the set that asked for a document has written it in that state before the
// contradiction.
func (s *slice) arrived(i int, d document, hash uint64) bool {
	to := setOf(s.events[i].Peer)
	for j := range s.events[:min(s.horizon+1, len(s.events))] {
		e := &s.events[j]
		if d.written(e) && e.Shard == to && e.Hash == hash && e.At >= s.events[i].Arrived() {
			return true
		}
	}
	return false
}

// repeated says of a request that it had been made before: then its answer was lost, or it came
// twice.
func (s *slice) repeated(i int) string {
	x := &s.events[i]
	asked, _ := x.Said()
	for j := range s.events[:i] {
		e := &s.events[j]
		if before, _ := e.Said(); e.Kind == trace.Exchanged && e.Node == x.Node &&
			e.Asked() == x.Asked() && before == asked && !polls(x) && asked != "" {
			text := ", a repetition or a late copy of what was asked at " + rounded(e.Arrived())
			if !slices.Equal(e.Carried(), x.Carried()) {
				text += ", when the answer brought other documents"
			}
			return text
		}
	}
	return ""
}

// unasked says of an answer to an operator that is wrong that the server has asked nobody for it.
func (s *slice) unasked(i int) string {
	x := &s.events[i]
	if s.chosen[i] != Must || !strings.Contains(s.about.Text, "an operator who asked") {
		return ""
	}
	for j := range s.events {
		e := &s.events[j]
		if e.Peer == x.Node && e.Kind == trace.Exchanged && e.At >= x.Arrived() && e.At <= x.At ||
			e.Node == x.Node && e.Kind == trace.CallEnded && e.Sent() >= x.Arrived() && e.At <= x.At {
			return ""
		}
	}
	return ", without having asked any shard"
}

// late says of a request for a step of an operation on a collection that the operation had ended
// already where it comes.
func (s *slice) late(i int) string {
	x := &s.events[i]
	operation, numbered := x.Argument("Operation")
	if !numbered {
		return ""
	}
	at := s.last(i, func(e *trace.Event) bool {
		of, _ := e.Argument("Operation")
		step, _ := e.Argument("Step")
		_, answer := e.Said()
		return e.Kind == trace.Exchanged && e.Asked() == x.Asked() && of == operation &&
			e.NS == x.NS && setOf(e.Node) == setOf(x.Node) && step == "release" && answer == "Done"
	})
	if at < 0 || s.events[at].At > x.Arrived() {
		return ""
	}
	return fmt.Sprintf(", although operation %s had ended there at %s", operation,
		rounded(s.events[at].At))
}

// joinRepeats makes one moment of exchanges that are the same, answer and all, with nothing told
// between.
func joinRepeats(all []Moment) (out []Moment) {
	for _, m := range all {
		n := len(out)
		if m.again == "" || n == 0 || out[n-1].again != m.again || m.Weight == Must {
			out = append(out, m)
			continue
		}
		last := &out[n-1]
		if last.repeats == nil {
			last.first = last.Text
		}
		last.repeats = append(last.repeats, rounded(m.At))
		last.Weight = max(last.Weight, m.Weight)
		last.Text = last.first + ", and again at " +
			strings.Join(FirstLines(last.repeats, repeatsTold), ", ")
	}
	return out
}

// repeatsTold is how many repetitions are told by their times.
const repeatsTold = 4
