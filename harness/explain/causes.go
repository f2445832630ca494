package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// refusal follows a refusal that has no cause: the migration that the node was at for the request,
// and what it asked others meanwhile.
func (s *slice) refusal(i int) {
	of := &s.events[i]
	if of.Code() == "" {
		return
	}
	refused := func(x *trace.Event) bool {
		return x.Kind == trace.Exchanged && x.Node == of.Node && x.Asked() == of.Asked() &&
			x.At == of.At
	}
	at := s.last(i+1, refused)
	if at < 0 {
		at = s.next(i, refused)
	}
	if at < 0 {
		return
	}
	began := s.events[at].Arrived()
	for j := range s.events[:i] {
		e := &s.events[j]
		if e.Node == of.Node && e.At >= began && e.Kind == trace.DonorAdvanced {
			s.migration(e.Migration())
		}
	}
	s.polled(began, i)
}

// next is the position of the first event after one that is so, -1 for none.
func (s *slice) next(after int, is func(*trace.Event) bool) int {
	for i := after + 1; i < len(s.events); i++ {
		if is(&s.events[i]) {
			return i
		}
	}
	return -1
}

// pollsTold is how many questions about how things are are told.
const pollsTold = 4

// polled follows the last questions of a node about how things are, since a time.
func (s *slice) polled(since int64, until int) {
	var asked []int
	for i := range s.events[:until] {
		x := &s.events[i]
		if x.Kind == trace.Exchanged && x.Peer == s.events[until].Node && x.Arrived() >= since &&
			polls(x) {
			asked = append(asked, i)
		}
	}
	for _, i := range asked[max(0, len(asked)-pollsTold):] {
		s.choose(i, Close)
	}
}

// callsTold is how many earlier calls of the same kind are told.
const callsTold = 2

// callsBefore follows a call for which there is no cause: those before it, and what its node was
// answered between them.
func (s *slice) callsBefore(i int) {
	of := &s.events[i]
	s.chooseLast(i, Close, func(x *trace.Event) bool {
		return x.Kind == trace.Exchanged && x.Peer == of.Node && x.Node == of.Peer &&
			x.Asked() == of.Asked() && x.NS == of.NS && x.Arrived() >= of.Sent()
	})
	at := i
	for n := 0; n < callsTold && at >= 0; n++ {
		at = s.chooseLast(at, Close, func(e *trace.Event) bool {
			return e.Kind == trace.CallEnded && e.Node == of.Node && e.Asked() == of.Asked() &&
				e.NS == of.NS
		})
	}
	for j := max(at, 0); j < i; j++ {
		x := &s.events[j]
		if x.Kind == trace.Exchanged && x.Peer == of.Node && (of.NS == "" || x.NS == of.NS) &&
			x.Asked() != of.Asked() {
			s.choose(j, Telling)
		}
	}
}

// followExecutions follows statements of operations of the contradiction that were executed more
// than once, each time, and what was on record of their sessions before the last.
func (s *slice) followExecutions() {
	for _, op := range s.ops {
		session := fmt.Sprintf("client.%d/", op.Client)
		var all []int
		for i := range s.events {
			e := &s.events[i]
			if e.Kind == trace.Executed && e.Actor == trace.User && s.keyed(e) &&
				strings.HasPrefix(e.Session(), session) && s.executedFor(e, op.CallAt, op.ReturnAt) {
				all = append(all, i)
			}
		}
		if len(all) < 2 || !s.sameStatement(all) {
			continue
		}
		for _, i := range all {
			s.choose(i, Must)
		}
		s.recordsOf(all[len(all)-1])
		s.disturbances(s.events[all[0]].Shard, all[0], all[len(all)-1])
		s.lighten()
	}
}

// lighten makes less of what others wrote, which are not operations of the contradiction.
func (s *slice) lighten() {
	for _, i := range s.positions() {
		if e := &s.events[i]; s.chosen[i] == Close && e.Kind == trace.Applied && e.Actor == trace.User &&
			!slices.Contains(s.ops, s.writers[i]) {
			s.chosen[i] = Phase
		}
	}
}

// executedFor says whether a statement was executed by the primary of its set while an operation
// had no answer.
func (s *slice) executedFor(e *trace.Event, from, to int64) bool {
	return from <= e.At && e.At <= to && s.leads(e)
}

// leads says whether the node of an event was the last to become primary of its set.
func (s *slice) leads(of *trace.Event) bool {
	leader := ""
	for i := range s.events {
		e := &s.events[i]
		if e.Step >= of.Step {
			break
		}
		if e.Kind == trace.Elected && e.Shard == of.Shard {
			leader = e.Node
		}
	}
	return leader == "" || leader == of.Node
}

// sameStatement says whether all are executions of one statement.
func (s *slice) sameStatement(all []int) bool {
	first := &s.events[all[0]]
	return !slices.ContainsFunc(all, func(i int) bool {
		e := &s.events[i]
		return e.Session() != first.Session() || e.Txn() != first.Txn() ||
			e.Statement() != first.Statement()
	})
}

// recordsOf follows what the node of an execution was told of its session before.
func (s *slice) recordsOf(i int) {
	of := &s.events[i]
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.Executed && e.Node == of.Node && e.Actor == trace.Session &&
			e.Session() == of.Session()
	})
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.Executed && e.Shard == of.Shard && e.Statement() < 0 &&
			e.Session() == of.Session()
	})
}
