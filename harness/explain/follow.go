package explain

import (
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// slice is the causal slice of a contradiction, growing.
type slice struct {
	events []trace.Event
	about  *Contradiction
	docs   []document
	ops    []*histories.Op
	// history is the whole of it, to tell whose a write is; passages are the failpoint sites that
	// were passed.
	history  []histories.Op
	passages []runner.Passage
	// from and to bound the time of the contradiction; horizon is the position behind which nothing
	// is a cause.
	from, to int64
	horizon  int
	turns    []turn
	views    map[document][]view
	writers  map[int]*histories.Op
	// lagging are the sets of which a majority does not have the last write of a document.
	lagging []string
	// indexed says that it matters which index a majority of the config server has.
	indexed bool
	// lastBelief are the positions at which nodes learnt last of who owns what.
	lastBelief map[int]bool
	// during is the migration that changed on a node while it was at a request, by the position of
	// the exchange.
	during map[int]string
	// said are the steps at which what was said is the proof of the contradiction.
	said map[uint64]bool
	// ways are the exchanges whose way past failpoint sites matters, by position.
	ways map[int]bool
	// fetched are the writes that requests for changes should have brought, by position of both.
	fetched map[int]int
	// commands are the exchanges in which the writes of the catalog were asked for, by position.
	commands map[int]int
	// chosen says how much the events of the slice matter, by position; done which causes were
	// followed already.
	chosen map[int]Weight
	done   map[string]bool
}

func newSlice(r Run, about Contradiction) *slice {
	s := &slice{
		events:  r.Events,
		about:   &about,
		docs:    documentsOf(r, &about),
		ops:     operationsOf(r.History, about.Ops),
		history: r.History,

		passages: r.Passages,

		chosen: map[int]Weight{},
		done:   map[string]bool{},

		lastBelief: map[int]bool{},
		during:     map[int]string{},
		ways:       map[int]bool{},
		fetched:    map[int]int{},
		commands:   map[int]int{},
	}
	s.from, s.to = s.window()
	s.attribute()
	s.watch()
	s.turns = slices.DeleteFunc(s.turns, func(t turn) bool {
		at := s.events[t.at].At
		return at < s.from || at > s.to
	})
	s.turns = s.turns[:min(len(s.turns), mostTurns)]
	s.horizon = s.end()
	return s
}

// mostTurns is how many turns are followed: the first ones, since later ones are mostly their
// consequences.
const mostTurns = 3

// end is the position of the last event that can be a cause: the last turn, or what the
// contradiction ends with.
func (s *slice) end() (last int) {
	for _, t := range s.turns {
		last = max(last, t.at)
	}
	for i := range s.events {
		e := &s.events[i]
		if slices.Contains(s.about.Steps, e.Step) || len(s.turns) == 0 && e.At <= s.to {
			last = i
		}
	}
	return last
}

func (s *slice) positions() []int {
	var all []int
	for i := range s.events {
		if s.chosen[i] != 0 {
			all = append(all, i)
		}
	}
	return all
}

func (s *slice) choose(i int, w Weight) { s.chosen[i] = max(s.chosen[i], w) }

// once is true the first time that it is asked for something.
func (s *slice) once(what string) bool {
	first := !s.done[what]
	s.done[what] = true
	return first
}

// follow chooses the slice: from the contradiction backwards.
func (s *slice) follow() {
	s.provenBySaying()
	for i := range s.events {
		// What was said has the step of the event before it.
		if slices.Contains(s.about.Steps, s.events[i].Step) &&
			s.events[i].Kind != trace.Exchanged {
			s.choose(i, s.proofWeight(i))
			s.explain(i)
		}
	}
	for _, t := range s.turns {
		s.choose(t.at, Must)
		s.explain(t.at)
		s.migration(t.migration)
		if s.events[t.at].Kind == trace.Majority {
			s.chooseLast(t.at, Close, func(e *trace.Event) bool {
				return e.Kind == trace.CatalogWritten && e.NS == t.doc.ns
			})
		}
	}
	s.followNamed()
	s.followDocuments()
	s.followCursors()
	s.endings()
	s.followMajorities()
	s.followMemberships()
	s.followExecutions()
	s.followExchanges()
}

// explain follows what one event names.
func (s *slice) explain(i int) {
	switch e := &s.events[i]; e.Kind {
	case trace.Applied:
		if e.Actor == trace.User {
			s.belief(i, e)
		} else {
			s.migration(e.Migration())
		}
	case trace.CatalogWritten:
		s.migration(movedBy(e))
		s.rowsBefore(i, e)
	case trace.BalancerChose:
		s.choice(i, e)
	case trace.BalancerRound:
		s.idleness(i, s.about.NS)
	case trace.Majority:
		if e.Shard == model.Config && len(s.docs) == 0 && !s.aboutMigration() {
			s.changes(i)
		}
	case trace.Elected, trace.SteppedDown, trace.RolledBack:
		first, _ := s.around(i)
		s.disturbances(e.Shard, first, i)
	case trace.DonorAdvanced, trace.RecipientAdvanced, trace.DecisionMade, trace.MigrationEnded,
		trace.RangeDeletion, trace.CriticalSection, trace.PrimaryMoving:
		s.migration(e.Migration())
	case trace.Executed:
		s.migration(e.Migration())
	case trace.Answered:
		s.refusal(i)
	case trace.CursorAnswered:
		if len(s.docs) > 0 {
			s.belief(i, e)
		}
	case trace.CallEnded:
		s.callsBefore(i)
	}
}

// movedBy is the migration that a write of the catalog carries out.
func movedBy(e *trace.Event) string {
	if e.Kind != trace.CatalogWritten {
		return ""
	}
	return e.Migration()
}

// migration follows everything that bears the identifier of a migration, up to the horizon.
func (s *slice) migration(id string) {
	if id == "" || !s.once("migration "+id) {
		return
	}
	first, sets := -1, []string{model.Config}
	last := 0
	for i := range s.events[:s.horizon+1] {
		e := &s.events[i]
		if w := partWeight(e, id); w > 0 {
			if len(s.docs) == 0 && namesIt(s.about.Text, id) {
				w = Close // the contradiction is how far the parties were
			}
			s.choose(i, w)
			if first < 0 {
				first = i
			}
			last = i
			for _, set := range []string{e.Shard, e.Peer} {
				if set != "" && !slices.Contains(sets, set) && e.Kind != trace.PointHit {
					sets = append(sets, set)
				}
			}
		}
	}
	if first < 0 {
		return
	}
	for _, set := range sets {
		s.disturbances(set, first, last)
	}
	s.successions(sets, first, last, id)
	s.writes(first, last)
	s.request(first)
	s.taskRequests(id)
}

// request is why the balancer asked for a migration, where it did.
func (s *slice) request(first int) {
	name := s.events[first].Request()
	for i := first; i >= 0 && s.events[first].Kind == trace.MigrationRequested && name != ""; i-- {
		if e := &s.events[i]; e.Kind == trace.BalancerChose && e.Request() == name {
			s.choose(i, Telling)
			return
		}
	}
}

// partWeight is how much an event matters to a migration; 0 when it is no part of it.
func partWeight(e *trace.Event, id string) Weight {
	if e.Migration() != id {
		return 0
	}
	switch e.Kind {
	case trace.CatalogWritten:
		return Close
	case trace.DonorAdvanced, trace.RecipientAdvanced, trace.CriticalSection, trace.MigrationEnded,
		trace.RangeDeletion:
		return Phase
	case trace.DecisionMade, trace.PrimaryMoving, trace.MigrationRequested, trace.PointHit:
		return Telling
	}
	return 0
}

// writes are those of the documents, by clients and by the cluster itself.
func (s *slice) writes(first, last int) {
	for i := first; i <= last; i++ {
		e := &s.events[i]
		if slices.ContainsFunc(s.docs, func(d document) bool { return d.written(e) }) {
			s.choose(i, Close)
		}
	}
}

// followNamed follows the migrations that the contradiction names; when there is nothing else to go
// by, those of the shards it names that have not come to an end.
func (s *slice) followNamed() {
	var ids, open []string
	for i := range s.events {
		switch e := &s.events[i]; e.Kind {
		case trace.DonorAdvanced, trace.RecipientAdvanced, trace.PrimaryMoving, trace.RangeDeletion:
			ids = append(ids, e.Migration())
			open = slices.DeleteFunc(open, func(id string) bool { return id == e.Migration() })
			over := e.DeletionState().Terminal() || e.PrimaryMovePhase().Terminal()
			if !over && (namesIt(s.about.Text, e.Shard) || namesIt(s.about.Text, e.Peer)) {
				open = append(open, e.Migration())
			}
		case trace.MigrationEnded:
			open = slices.DeleteFunc(open, func(id string) bool { return id == e.Migration() })
		case trace.Executed:
			if i <= s.horizon && (s.keyed(e) && namesIt(s.about.Text, e.Session()) ||
				len(s.docs) == 0 && e.Actor == trace.User && s.namesStatement(e)) {
				s.choose(i, Close)
			}
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if namesIt(s.about.Text, id) {
			s.migration(id)
		}
	}
	s.leadersOfBroken()
	if len(s.docs) == 0 && (len(s.chosen) == 0 || len(s.about.Steps) == 0) {
		s.unfinished()
	}
	if len(s.chosen)+len(s.docs) == 0 {
		s.beliefs()
	}
	if len(s.chosen)+len(s.docs) == 0 {
		for _, id := range open[max(0, len(open)-mostTurns):] {
			s.migration(id)
		}
	}
}

// followDocuments adds what happened to the documents between the operations: writes, and who came
// to own them.
func (s *slice) followDocuments() {
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		e := &s.events[i]
		if e.At < s.from || e.At > s.to {
			continue
		}
		switch {
		case e.Kind == trace.CatalogWritten && s.concerns(e):
			s.choose(i, placementWeight(e))
			if len(s.turns) == 0 {
				s.migration(movedBy(e))
			}
		case e.Kind == trace.Applied && len(s.turns) == 0:
			s.writes(i, i)
		}
	}
	s.origins()
}

// placementWeight is how much a write of the catalog matters to a document that it leaves intact.
func placementWeight(e *trace.Event) Weight {
	if movedBy(e) == "" {
		return Ambient
	}
	return Telling
}

// concerns says whether a write of the catalog places one of the documents.
func (s *slice) concerns(e *trace.Event) bool {
	return slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool {
		return s.inside(e.NS, c.Min, c.Max)
	})
}

// origins are the last writes by clients of each document before the first turn, or else before the
// contradiction ends.
func (s *slice) origins() {
	end, most := s.horizon, mostOrigins
	if len(s.turns) > 0 {
		end, most = s.turns[0].at-1, 1
	}
	for _, d := range s.docs {
		s.writtenBefore(d, end, most)
	}
}

// mostOrigins is how many earlier writes of a document are told when none of them is known to be
// the one that matters.
const mostOrigins = 3

func (s *slice) writtenBefore(d document, end, most int) {
	for i := min(end, len(s.events)-1); i >= 0 && most > 0; i-- {
		e := &s.events[i]
		if d.written(e) && e.Actor == trace.User {
			s.choose(i, Close)
			most--
			if len(s.turns) == 0 {
				s.disturbances(e.Shard, i, s.horizon)
			}
		}
	}
}
