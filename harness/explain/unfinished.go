package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// unfinished follows what has not come to its end and has no event to show for it: the failure
// names replica sets, records and refusals, and the events are those which these are about.
func (s *slice) unfinished() {
	s.drained()
	s.leftover()
	s.blocked()
	s.locked()
	s.refused()
	s.stillHeld()
}

// drained follows what keeps a shard from being emptied: that it drains, its jumbo chunks, and what
// the balancer did in its last rounds.
func (s *slice) drained() {
	if !strings.Contains(s.about.Text, "RemoveShard") {
		return
	}
	end := len(s.events)
	for _, shard := range s.shardsNamed() {
		s.chooseLast(end, Close, func(e *trace.Event) bool {
			return e.ClusterChange() == trace.ShardDraining && e.Peer == shard
		})
		s.chooseLast(end, Close, func(e *trace.Event) bool {
			return e.Change() == trace.Jumbo && slices.ContainsFunc(e.Chunks,
				func(c trace.Chunk) bool { return c.Jumbo && c.Shard == shard })
		})
		s.chooseLast(end, Close, func(e *trace.Event) bool {
			return e.Kind == trace.BalancerChose && e.Shard == shard
		})
	}
	s.idleness(end, s.about.NS)
}

// leftover follows records that replica sets still have: the moves that they are about, and when
// the sets got new primaries, which were to go on with them.
func (s *slice) leftover() {
	if !strings.Contains(s.about.Text, "documents left") &&
		!strings.Contains(s.about.Text, "still has") {
		return
	}
	for i := range s.events {
		e := &s.events[i]
		switch {
		case e.Kind == trace.Elected && e.Term > 1 && namesIt(s.about.Text, e.Shard):
			s.choose(i, Telling)
		case e.Kind == trace.BalancerChose && s.recorded(e):
			s.choose(i, Close)
		case e.Kind == trace.MigrationRequested && s.recorded(e):
			s.migration(e.Migration())
		}
	}
}

// blocked follows a critical section that is left: when it was entered, and what its shard was
// asked to do about the collection.
func (s *slice) blocked() {
	if !strings.Contains(s.about.Text, "critical_sections") {
		return
	}
	entered := s.chooseLast(len(s.events), Must, func(e *trace.Event) bool {
		return e.Kind == trace.CriticalSection && namesIt(s.about.Text, e.Shard) &&
			namesIt(s.about.Text, e.NS)
	})
	if entered < 0 {
		return
	}
	s.participants(&s.events[entered])
}

// participants follows what the node of a critical section was asked to do about the collection.
func (s *slice) participants(section *trace.Event) {
	for i := range s.events {
		e := &s.events[i]
		if e.Kind == trace.Exchanged && e.Asked() == "ShardsvrParticipate" &&
			e.NS == section.NS && e.Node == section.Node {
			s.choose(i, Close)
		}
	}
}

// stillHeld follows the critical sections that a primary still holds when a run has not come to its
// end in time, whatever it waits for: they block clients, and others wait for these.
func (s *slice) stillHeld() {
	if !strings.HasPrefix(s.about.Text, "not finished") {
		return
	}
	for i := range s.events {
		e := &s.events[i]
		if e.Kind != trace.CriticalSection || e.SectionState().Terminal() ||
			!s.lasts(i) {
			continue
		}
		s.choose(i, Must)
		s.participants(e)
		s.migration(e.Migration())
		s.chooseLast(len(s.events), Close, func(x *trace.Event) bool {
			_, answer := x.Said()
			return x.Kind == trace.Exchanged && x.Node == e.Node && x.NS == e.NS && x.At > e.At &&
				strings.Contains(answer, "the critical section is held")
		})
	}
}

// lasts says whether a critical section that was entered is still as it was then when the run ends.
func (s *slice) lasts(entered int) bool {
	of := &s.events[entered]
	for i := entered + 1; i < len(s.events); i++ {
		e := &s.events[i]
		switch {
		case e.Kind == trace.CriticalSection && e.Node == of.Node && e.NS == of.NS &&
			e.Migration() == of.Migration():
			return false
		case e.Kind == trace.NodeDown && e.Node == of.Node,
			e.Kind == trace.SteppedDown && e.Node == of.Node,
			e.Kind == trace.Elected && e.Shard == of.Shard && e.Node != of.Node:
			return false
		}
	}
	return true
}

// recorded says whether the contradiction names the record that the config server of 4.2 has of a
// move: by its collection and its lower bound.
func (s *slice) recorded(e *trace.Event) bool {
	return namesIt(s.about.Text, fmt.Sprintf("%s-min_%s", e.NS, key.Key(e.Min)))
}

// locked follows a lock that somebody lacks, or that is left: of the collections that the
// contradiction names, the last two migrations, and the last one before the config server got a new
// primary.
func (s *slice) locked() {
	if !strings.Contains(s.about.Text, " lock ") {
		return
	}
	before := s.migrationBefore(len(s.events))
	s.migrationBefore(before)
	s.migrationBefore(s.last(len(s.events), func(e *trace.Event) bool {
		return e.Kind == trace.Elected && e.Shard == model.Config
	}))
}

// migrationBefore follows the last migration of a named collection that was requested before an
// event, and is where that was; -1 for none.
func (s *slice) migrationBefore(at int) int {
	at = s.last(at, func(e *trace.Event) bool {
		return e.Kind == trace.MigrationRequested && namesIt(s.about.Text, e.NS)
	})
	if at >= 0 {
		s.migration(s.events[at].Migration())
	}
	return at
}

// refused follows refusals that name versions of chunks: the changes that gave them.
func (s *slice) refused() {
	if !strings.Contains(s.about.Text, "||") {
		return
	}
	for i := range s.events {
		e := &s.events[i]
		if e.Kind == trace.CatalogWritten &&
			slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool {
				return namesIt(s.about.Text, fmt.Sprintf("%d|%d||%s", c.Major, c.Minor, c.Epoch))
			}) {
			s.choose(i, Close)
		}
	}
}
