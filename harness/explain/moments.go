package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// moments tells the chosen events and the operations of the contradiction, in order.
func (s *slice) moments() (all []Moment) {
	told := map[string]bool{}
	for _, i := range s.positions() {
		e := &s.events[i]
		if e.Kind == trace.PointHit && i > 0 && s.events[i-1].Kind == trace.Fault &&
			s.chosen[i-1] != 0 {
			continue // told with its fault
		}
		if s.chosen[i] == Ambient && s.coincides(i) {
			continue
		}
		if e.Kind == trace.Exchanged {
			all = append(all, s.exchange(i)...)
			continue
		}
		m := Moment{
			Step: e.Step, At: e.At, Weight: s.chosen[i],
			Text: s.sentence(i) + s.commandText(i) + s.unkept(i),
		}
		if m.migration, m.phase = s.phaseOf(e); m.migration != "" && m.Weight < Must {
			m.Text = m.phase.alone(e, !told[m.migration])
			told[m.migration] = told[m.migration] || e.Peer != ""
		}
		steps := s.participation(i)
		if len(steps) > 0 {
			m.Weight = max(m.Weight, Telling)
		}
		all = append(append(all, m), steps...)
	}
	s.mark(all)
	all = append(all, s.steps()...)
	for _, op := range s.ops {
		if op.Client != histories.PreloadClient {
			all = append(all, Moment{
				At:     op.ReturnAt,
				Weight: Must,
				Text:   Operation(op) + s.background(op) + s.passed(op),
				Op:     op.ID,
				op:     answerText(op),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.rank(), b.rank()))
	})
	return all
}

// rank orders what has one time: a request comes before what is done for it, and an operation
// returns after what it waited for.
func (m *Moment) rank() int {
	switch {
	case m.Op != 0:
		return 3
	case m.answer:
		return 2
	case m.Step != 0:
		return 1
	}
	return 0
}

// mark shows where the contradiction was seen when no turn does.
func (s *slice) mark(all []Moment) {
	for i := len(all) - 1; i >= 0 && len(s.turns) == 0; i-- {
		if all[i].Weight == Must {
			all[i].Text = HereMark + all[i].Text
			return
		}
	}
}

// HereMark is what a turn begins with, or else the last event of the contradiction.
const HereMark = "HERE  "

// sentence tells one event in the light of the contradiction.
func (s *slice) sentence(i int) string {
	e := &s.events[i]
	var turned []string
	for n := range s.turns {
		if t := &s.turns[n]; t.at == i {
			turned = append(turned, t.text+s.notBrought(t))
		}
	}
	switch {
	case len(turned) > 0:
		return HereMark + strings.Join(turned, "; ")
	case s.lastBelief[i]:
		return Sentence(e) + s.role(i) + ", and learns no more of it"
	case e.Kind == trace.Applied && s.concerned(e):
		return s.write(i)
	case e.Kind == trace.CatalogWritten && s.concerns(e):
		return s.placement(e) + s.staleCommit(i)
	case e.Kind == trace.CatalogWritten && s.chosen[i] == Must:
		return s.rewritten(i)
	case e.Kind == trace.CursorClosed && s.chosen[i] == Must:
		return Sentence(e) + s.ending(i)
	case e.Kind == trace.CursorAnswered && s.chosen[i] == Must:
		return Sentence(e) + s.role(i)
	case e.Kind == trace.BalancerRound:
		return s.round(i)
	case e.Kind == trace.Executed && e.Actor == trace.User:
		return Sentence(e) + s.statementOf(i)
	case e.Kind == trace.RangeDeletion && strings.Contains(s.about.Text, "orphan"):
		return Sentence(e) + " with " + counted(e.Orphans(), "orphan")
	case e.Kind == trace.Majority && e.Shard == model.Config:
		return s.counts(i)
	case e.Kind == trace.CursorOpened && len(s.docs) > 0:
		return s.cursor(i)
	case e.Kind == trace.ClusterChanged && e.MaxBytes() == 0 && e.Peer != "" &&
		strings.Contains(s.about.Text, "at most "):
		return Sentence(e) + ", without a limit"
	case s.indexed && (model.Administers(e) || e.Kind == trace.CatalogWritten):
		return fmt.Sprintf("%s, at index %d", Sentence(e), e.Index)
	case e.Kind == trace.Fault && i+1 < len(s.events) && s.events[i+1].Kind == trace.PointHit:
		return Sentence(e) + " at " + s.events[i+1].Site()
	}
	return Sentence(e)
}

func (s *slice) concerned(e *trace.Event) bool {
	return slices.Contains(s.docs, document{e.NS, e.DocID, e.Key})
}

// write tells a write of a document with its name and whose it is.
func (s *slice) write(i int) string {
	e := &s.events[i]
	d := document{e.NS, e.DocID, e.Key}
	text := fmt.Sprintf("%s writes %s = %s", e.Node, documentName(d), s.state(d, e.Hash))
	if e.Hash == 0 {
		text = fmt.Sprintf("%s deletes %s", e.Node, documentName(d))
	}
	if slices.Contains(s.lagging, e.Shard) {
		text += fmt.Sprintf(" at index %d", e.Index)
	}
	switch op := s.writers[i]; {
	case op != nil && op.Client >= 0:
		return text + fmt.Sprintf(", for client %d (op %d)", op.Client, op.ID)
	case e.Actor == trace.User:
		return text + ", for a client"
	case e.For() != "":
		return text + fmt.Sprintf(", as %s of %s", e.Actor, e.For()) + s.stillRead(i)
	}
	return text
}

// placement tells a write of the catalog by what it says of the documents.
func (s *slice) placement(e *trace.Event) string {
	var of []trace.Chunk
	for _, c := range e.Chunks {
		if s.inside(e.NS, c.Min, c.Max) {
			of = append(of, c)
		}
	}
	if len(e.Chunks) == 0 || isDatabase(e.NS) {
		return Sentence(e)
	}
	text := "config writes " + e.Why() + ": " + chunkText(of)
	if more := len(e.Chunks) - len(of); more > 0 && len(of) > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + s.shardKeys(e) + s.handedOver(e)
}

// handedOver is how much session history came with a migration, where that is in question.
func (s *slice) handedOver(e *trace.Event) string {
	id := movedBy(e)
	if id == "" || !strings.Contains(s.about.Text, "session") {
		return ""
	}
	statements := 0
	for i := range s.events {
		if x := &s.events[i]; x.Kind == trace.Executed && x.Migration() == id && x.Step < e.Step {
			statements++
		}
	}
	return fmt.Sprintf(", with %s of session history", counted(statements, "statement"))
}

// shardKeys are the shard keys of the documents that lie in the chunks, where the documents are
// known by another key.
func (s *slice) shardKeys(e *trace.Event) (text string) {
	names := map[string][]string{}
	for _, d := range s.docs {
		if d.ns == e.NS && d.key != d.id && d.id != "" {
			names[d.key] = append(names[d.key], documentName(d))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(names)) {
		text += fmt.Sprintf(" (shard key %s: %s)", key.Key(k),
			strings.Join(FirstLines(names[k], documentsTold), ", "))
	}
	return text
}

// documentsTold is how many documents of one shard key are named.
const documentsTold = 9

// counts tells what a majority of the config server has made to count.
func (s *slice) counts(i int) string {
	for j := i - 1; j >= 0 && !s.indexed; j-- {
		if e := &s.events[j]; s.chosen[j] != 0 && e.Kind == trace.CatalogWritten {
			return "majority-committed on config: " + e.Why() + " is in effect"
		}
	}
	return Sentence(&s.events[i])
}

// round tells of a round of the balancer what came of it.
func (s *slice) round(i int) string {
	e := &s.events[i]
	if e.RoundPhase() == trace.RoundBegun {
		return Sentence(e)
	}
	requests := 0
	for j := i - 1; j >= 0 && s.events[j].Kind != trace.BalancerRound; j-- {
		if s.events[j].Kind == trace.BalancerChose {
			requests++
		}
	}
	return Sentence(e) + " with " + counted(requests, "request")
}

// cursor tells of a cursor whether it may see the documents.
func (s *slice) cursor(i int) string {
	e := &s.events[i]
	text := fmt.Sprintf("%s opens cursor %s on %s", e.Node, e.Cursor(), rangeText(e))
	for _, d := range s.docs {
		owns := slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool {
			return c.Min <= d.key && d.key < c.Max
		})
		switch hash := s.held(d, e.Shard, i); {
		case owns:
			text += fmt.Sprintf("; it owns %s and has %s", documentName(d), s.state(d, hash))
		case hash != 0:
			text += fmt.Sprintf("; it does not own %s and has %s",
				documentName(d), s.state(d, hash))
		}
	}
	return text
}

// held is what a shard was last seen to write of a document, owner or not.
func (s *slice) held(d document, shard string, until int) (hash uint64) {
	for i := range s.events[:until] {
		e := &s.events[i]
		if d.written(e) && e.Shard == shard {
			hash = e.Hash
		}
	}
	return hash
}

// background is what could be seen of the document when a reading operation returned.
func (s *slice) background(op *histories.Op) string {
	if len(s.docs) != 1 || op.Outcome != histories.OK || !op.Kind.Of().Reads() {
		return ""
	}
	v, ok := s.seenAt(s.docs[0], op.ReturnAt)
	if !ok || v.owner == "" {
		return ""
	}
	return fmt.Sprintf("; the owner, %s, had %s", v.owner, s.state(s.docs[0], v.hash))
}

// ambientTold is how many circumstances a long story has: more would hide what they surround.
const ambientTold = 2

// lessAmbient drops the oldest circumstances until so many are left.
func lessAmbient(all []Moment) []Moment {
	many := 0
	for i := range all {
		if all[i].Weight == Ambient {
			many++
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m Moment) bool {
		if m.Weight != Ambient {
			return false
		}
		many--
		return many >= ambientTold
	})
}

// shortenMoments drops the lightest moments, and of those the oldest, until the rest fits.
func shortenMoments(all []Moment, most int) []Moment {
	if len(all) > most {
		all = lessAmbient(all)
	}
	if len(all) <= most {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d := all[b].Weight - all[a].Weight; d != 0 {
			return int(d)
		}
		return b - a
	})
	keep := order[:most]
	for _, i := range order[most:] {
		if all[i].Weight == Must {
			keep = append(keep, i)
		}
	}
	slices.Sort(keep)
	out := make([]Moment, len(keep))
	for i, at := range keep {
		out[i] = all[at]
	}
	return out
}
