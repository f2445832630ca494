package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// What was asked and answered decides most of what nodes do, and a recorded run has it. A story
// tells the requests that its decisive events were made for, those of its operations, and the
// answers that brought its documents from one shard to another.

// followExchanges adds what was said where it decided.
func (s *slice) followExchanges() {
	for _, i := range s.positions() {
		e := &s.events[i]
		switch {
		case changesCatalog(e):
			if s.chosen[i] >= Close && (movedBy(e) == "" || len(s.docs) == 0) {
				s.command(i)
			}
		case s.chosen[i] == Must:
			s.served(i)
		}
	}
	for _, op := range s.ops {
		s.attempts(op)
	}
	s.carriers()
}

// changesCatalog says whether an event is a write of the catalog.
func changesCatalog(e *trace.Event) bool {
	return e.Kind == trace.CatalogWritten || e.Kind == trace.EntryChanged || model.Administers(e)
}

// command finds the request for which the config server has changed the catalog: its sentence is
// told with that of the event.
func (s *slice) command(i int) {
	if requests, _ := s.requests(i); len(requests) > 0 {
		s.commands[i] = requests[0]
	}
}

// servedTold is how many requests are told that an event may have been made for.
const servedTold = 2

// served follows the requests that a node was at when an event happened there, or else the last one
// that a recipient had dealt with.
func (s *slice) served(i int) {
	e := &s.events[i]
	requests, before := s.requests(i)
	if len(requests) == 0 && before >= 0 && e.Kind == trace.RecipientAdvanced {
		requests = []int{before}
	}
	for _, j := range requests[:min(servedTold, len(requests))] {
		s.choose(j, Close)
		if e.Migration() != "" {
			s.during[j] = e.Migration()
		}
	}
}

// requests are those that have to do with an event and that its node was at when it happened, the
// newest first, and the last one before, -1 for none.
func (s *slice) requests(i int) (during []int, before int) {
	e := &s.events[i]
	before = -1
	for j := range s.events {
		x := &s.events[j]
		switch {
		case x.Kind != trace.Exchanged || x.Node != e.Node || x.Arrived() > e.At || !concern(x, e):
		case x.At >= e.At:
			during = append(during, j)
		default:
			before = j
		}
	}
	slices.SortStableFunc(during, func(a, b int) int {
		return cmp.Compare(s.events[b].Arrived(), s.events[a].Arrived())
	})
	return during, before
}

// concern says whether what happens in an event may be done for the request of an exchange.
func concern(x, e *trace.Event) bool {
	asked, _ := x.Said()
	switch {
	case e.Kind == trace.Applied && e.Actor == trace.User, e.Kind == trace.Executed:
		return e.Session() != "" && namesIt(asked, e.Session())
	case e.Migration() != "" && e.Kind != trace.CatalogWritten:
		return ofMigration(asked) != "" && !polls(x) && !pulls(asked)
	case e.Kind == trace.CatalogWritten && movedBy(e) != "":
		return namesIt(asked, movedBy(e))
	case e.Kind == trace.BalancerState:
		return strings.HasPrefix(x.Asked(), "Balancer") || x.Asked() == "PutSetting"
	case changesCatalog(e):
		return e.NS != "" && (e.NS == x.NS || namesIt(asked, e.NS)) ||
			e.Peer != "" && namesIt(asked, e.Peer)
	}
	return false
}

// pulls says whether a request has a number: then it fetches the next part of something.
func pulls(asked string) bool { return strings.Contains(asked, ", Number ") }

// polls says whether a request only asks how things are.
func polls(x *trace.Event) bool { return strings.HasSuffix(x.Asked(), "Status") }

// ofMigration is the migration that a request names, by itself or by its session; empty for none.
func ofMigration(asked string) string {
	for _, field := range strings.Split(asked, ", ") {
		name, value, _ := strings.Cut(field, " ")
		if name == "Migration" || name == "Session" {
			return value[strings.LastIndexByte(value, '_')+1:]
		}
	}
	return ""
}

// attemptsTold is how many requests of one operation are told.
const attemptsTold = 4

// attempts follows the requests by which a client's write reached shards.
func (s *slice) attempts(op *histories.Op) {
	if op.Client < 0 || op.Client == histories.PreloadClient || !writesKind(op.Kind) {
		return
	}
	told := 0
	for i := range s.events {
		x := &s.events[i]
		if x.Kind != trace.Exchanged || x.NS != op.NS || x.Arrived() < op.CallAt ||
			x.Arrived() > op.ReturnAt {
			continue
		}
		asked, _ := x.Said()
		if strings.Contains(asked, fmt.Sprintf("session client.%d/", op.Client)) &&
			told < attemptsTold {
			s.choose(i, Close)
			told++
		}
	}
}

// carriers follows the answers that brought a document to the recipient of a migration of the
// slice.
func (s *slice) carriers() {
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		x := &s.events[i]
		asked, _ := x.Said()
		if len(s.brought(x)) > 0 && s.done["migration "+ofMigration(asked)] {
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
		request += " (" + asked + s.ownVersion(i, asked) + ")"
	}
	if id := ofMigration(asked); s.during[i] != "" && id != "" && id != s.during[i] {
		request += ", of another migration than " + s.during[i]
	}
	if documents := s.documentsText(i); documents != "" {
		answer = documents
	}
	answer += detour(x)
	m := Moment{
		At: x.Arrived(), Weight: s.chosen[i],
		Text: fmt.Sprintf("%s asks %s: %s%s", x.Peer, x.Node, request, s.repeated(i)),
	}
	switch lasted := x.At-x.Arrived() >= int64(roundedTo); {
	case !lasted:
		m.Text += " → " + answer
	case len(answer) <= shortAnswer || m.Weight < Close:
		m.Text += fmt.Sprintf(" → %s at %s", answer, time.Duration(x.At).Round(roundedTo))
	default:
		return []Moment{m, {
			At: x.At, Weight: m.Weight, answer: true,
			Text: fmt.Sprintf("%s answers %s of %s: %s", x.Node, x.Asked(), x.Peer, answer),
		}}
	}
	return []Moment{m}
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
	if answer == "Done" {
		return text
	}
	return text + " → " + answer
}

// shortAnswer is how long an answer may be that is told with its request although it came later.
const shortAnswer = 30

// roundedTo is how exactly times are told.
const roundedTo = 10 * time.Microsecond

// ownVersion is the placement that a shard had itself when a request with one, or without, came,
// and the last that it had before it answered.
func (s *slice) ownVersion(i int, asked string) string {
	x := &s.events[i]
	if !strings.Contains(asked, "version ") && !strings.Contains(asked, "without a version") {
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
		was, is, time.Duration(since).Round(roundedTo))
}

// believed is the version that a node has from an event on.
func believed(e *trace.Event) string { return cmp.Or(e.Version(), "unknown") }

// detour tells the way of a request past failpoint sites if it passed one of them again; empty for
// a straight way.
func detour(x *trace.Event) string {
	var seen []string
	text, again := "; it passed ", false
	for n, p := range x.Passed() {
		switch {
		case slices.Contains(seen, p.Site):
			again = true
			seen = nil
			text += fmt.Sprintf("; at %s again ", time.Duration(p.At).Round(roundedTo))
		case n > 0:
			text += ", "
		}
		seen = append(seen, p.Site)
		text += p.Site
	}
	if !again {
		return ""
	}
	return text
}

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
		if e.Kind == trace.Applied && e.Shard == to && e.NS == d.ns && e.DocID == d.id &&
			e.Hash == hash && e.At >= s.events[i].Arrived() {
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
			text := ", as before at " + time.Duration(e.Arrived()).Round(roundedTo).String()
			if !slices.Equal(e.Carried(), x.Carried()) {
				text += ", when the answer brought other documents"
			}
			return text
		}
	}
	return ""
}
